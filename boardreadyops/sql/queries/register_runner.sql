-- Turn an enrolment into a registration; outcomes in the function's header.
SELECT registration_outcome AS outcome, registration_id FROM boardreadyops_register_runner($1, $2, $3, $4)
