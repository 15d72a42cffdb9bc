-- Whose rows the rest of this transaction may see: installation ids joined by commas, '*' for all, '' for none.
SELECT set_config('boardreadyops.installation_ids', $1, true)
