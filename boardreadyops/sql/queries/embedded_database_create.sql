-- Our database in the embedded server.
CREATE DATABASE boardreadyops
