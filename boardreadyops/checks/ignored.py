"""Checks that a project has switched off: silence of a rule that is ignored says nothing about the board."""

from boardreadyops.kicad.findings import Finding, fingerprint
from boardreadyops.kicad.messages import clean
from boardreadyops.kicad.outcome import CheckName, CouldNotCheck, CouldNotReason
from boardreadyops.kicad.project import KicadProject, Severities

# What a check is for. With all of them ignored it did not check anything worth the name.
ESSENTIAL_RULES: dict[CheckName, frozenset[str]] = {
    "drc": frozenset({"clearance", "shorting_items", "unconnected_items", "tracks_crossing"}),
    "schematic_parity": frozenset({"missing_footprint", "net_conflict"}),
    "erc": frozenset({"pin_not_connected", "pin_to_pin", "power_pin_not_driven"}),
}
IGNORED_RULE = "essential_rule_ignored"


def checks_disabled(severities: Severities) -> dict[CheckName, CouldNotCheck]:
    """The checks whose essential rules are all ignored."""
    disabled = {}
    for check, rules in ESSENTIAL_RULES.items():
        if rules <= _ignored(check, severities):
            words = f"the project ignores every essential rule of this check ({', '.join(sorted(rules))})"
            disabled[check] = CouldNotCheck(CouldNotReason.CHECK_DISABLED, words)
    return disabled


def ignored_rule_findings(project: KicadProject, severities: Severities) -> list[Finding]:
    """A warning for each essential rule that is ignored while its check still says something."""
    findings = []
    for check, rules in ESSENTIAL_RULES.items():
        ignored = rules & _ignored(check, severities)
        for rule in sorted(ignored if ignored != rules else ()):
            words = f"The project ignores the rule {rule}: violations of it are not reported"
            mark = fingerprint(IGNORED_RULE, project.id, [rule])
            path = project.relative(project.project_file)
            findings.append(Finding(check, IGNORED_RULE, "warning", clean(words), mark, project.id, path))
    return findings


def _ignored(check: CheckName, severities: Severities) -> frozenset[str]:
    return severities.erc_ignored if check == "erc" else severities.drc_ignored
