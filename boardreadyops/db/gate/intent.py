"""What is meant: which tables are guarded, who may do what, and which files are let through. Reviewed, not derived."""

from typing import Final

from boardreadyops.db.roles import APP, GUARDED_TABLES, READER

# Views over them: PostgreSQL would pass a write on to the table.
LIFECYCLE_VIEWS: Final = frozenset(
    {"page_runs", "page_attempts", "page_publications", "page_results", "page_transitions"}
)
GUARDED: Final = GUARDED_TABLES | LIFECYCLE_VIEWS
EVENT_TABLE: Final = "release_run_transition_events"
EVENT_TRIGGERS: Final = frozenset({"append_only", "append_only_truncate"})
# Reference data without a tenant: nothing to hide between installations.
WITHOUT_ROW_SECURITY: Final = frozenset({"lifecycle_edges", "outbox"})

# Who writes what beside the functions: the metadata store, deliveries, the deployment's defaults, the migrator.
WRITERS: Final[dict[str, frozenset[str]]] = {
    "installations": frozenset({"put_installation", "note_installation"}),
    "repositories": frozenset({"put_repository"}),
    "webhook_deliveries": frozenset({"record_delivery", "settle_delivery"}),
    "deployment_settings": frozenset({"configure_deployment"}),
    "schema_migrations": frozenset({"migration_record", "migration_table", "migration_table_grant"}),
}
APP_WRITES: Final[dict[str, frozenset[str]]] = {
    "installations": frozenset({"INSERT", "UPDATE"}),
    "repositories": frozenset({"INSERT", "UPDATE"}),
    "webhook_deliveries": frozenset({"INSERT", "UPDATE", "DELETE"}),
    "deployment_settings": frozenset({"UPDATE"}),
}
# Statements that make statements: names of roles and databases cannot be parameters; the gate reads policies so.
MAKES_STATEMENTS: Final = frozenset({"role_database_rights", "role_set_verifier", "gate_policies"})
TAKES_POWER: Final = frozenset({"role_become_owner"})
# Functions that run a text as SQL, or make one.
RUNS_TEXT: Final = frozenset(
    {
        *("query_to_xml", "query_to_xmlschema", "query_to_xml_and_xmlschema", "ts_stat", "ts_rewrite"),
        *("dblink", "dblink_exec", "dblink_open", "dblink_send_query", "schedule", "schedule_in_database"),
        *("crosstab", "connectby", "xpath_table", "run_command_on_workers", "lo_import", "lo_export"),
    }
)
MAKES_TEXT: Final = frozenset({"format", "quote_ident", "quote_literal", "quote_nullable"})

# Where `statement` may come from, and for whom: measurements have statements of their own, each read by the gate.
STATEMENTS_FROM: Final = {"boardreadyops.db.statements": "", "boardreadyops.bench.seed": "bench/"}
# Modules that run a text which is no named statement: migration files, what MAKES_STATEMENTS answered, and SEEDING.
RUNS_OTHER_TEXTS: Final = frozenset({"bench/seed.py", "db/migrate.py", "db/roles.py"})
# Rooms that never hold a database connection; `fetch` and `execute` are other things there.
WITHOUT_DATABASE: Final = ("agent/", "checks/", "domain/", "github/", "kicad/", "runner/", "standin/")

# Rows that a migration itself may change, by migration: a backfill is reviewed here.
BACKFILLS: Final[dict[int, frozenset[str]]] = {23: frozenset({"lifecycle_edges"})}

# The only file that may fill lifecycle tables by hand: rows for measurements, never in a served database.
SEEDING: Final = frozenset({"sql/bench/seed.sql"})
# Names of the store that once changed lifecycle rows from Python. It stays retired.
RETIRED: Final = frozenset(
    {
        *(
            "LifecycleStore",
            "RunLifecycleStore",
            "ReleaseRunStore",
            "LifecycleRepository",
            "ReleaseRunRepository",
        ),
        *("MetadataLifecycleStore", "PostgresLifecycleStore", "InMemoryLifecycleStore"),
        *("create_lifecycle_store", "make_lifecycle_store", "get_lifecycle_store", "lifecycle_store_factory"),
        *("lifecycle_factory", "lifecycle_store", "create_release_run_store", "release_run_store"),
    }
)

# Who may call what; a function that is not here is called by functions only, and says `Internal:` in its header.
APP_CALLS: Final = frozenset(
    {
        "boardreadyops_acknowledge_publication",
        "boardreadyops_acknowledge_workflow_dispatch",
        "boardreadyops_approve_release_run",
        "boardreadyops_begin_workflow_dispatch",
        "boardreadyops_cancel_installation_runs",
        "boardreadyops_cancel_release_run",
        "boardreadyops_claim_outbox",
        "boardreadyops_claim_publications",
        "boardreadyops_claim_runner_lease",
        "boardreadyops_claim_verifications",
        "boardreadyops_close_ref",
        "boardreadyops_defer_outbox",
        "boardreadyops_defer_publication",
        "boardreadyops_enqueue_pushed_ref",
        "boardreadyops_enqueue_release_run_with_outbox",
        "boardreadyops_expire_runner_leases",
        "boardreadyops_give_up_workflow_dispatch",
        "boardreadyops_heartbeat_runner_lease",
        "boardreadyops_issue_runner_enrollment",
        "boardreadyops_list_due",
        "boardreadyops_reconcile_workflow_run",
        "boardreadyops_record_check_run",
        "boardreadyops_record_runner_result",
        "boardreadyops_record_verification",
        "boardreadyops_register_runner",
        "boardreadyops_relinquish_runner_lease",
        "boardreadyops_resume_installation",
        "boardreadyops_retry_release_run",
        "boardreadyops_revoke_runner",
        "boardreadyops_rotate_runner_token",
        "boardreadyops_settle_outbox",
        "boardreadyops_sweep_deadlines",
        "boardreadyops_sweep_levels",
        "boardreadyops_transition_release_run_state",
    }
)
READER_CALLS: Final = frozenset({"boardreadyops_tenant_visible"})
CALLS: Final = {APP: APP_CALLS, READER: READER_CALLS}
# Called with its caller's rights on purpose: it asks about the caller.
RUNS_AS_CALLER: Final = frozenset({"boardreadyops_tenant_visible"})
SEARCH_PATH: Final = ("pg_catalog", "public", "pg_temp")
