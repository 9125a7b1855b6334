"""What the command doctor does: checks, each with its remedy."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace

from satchel.cli.actions.checks import Check, Findings, Verdict
from satchel.cli.actions.checks_database import check_database
from satchel.cli.actions.checks_offline import (
    check_configuration,
    check_folder,
    check_model,
    check_owner,
    check_packages,
    check_ports,
    check_python,
    check_token_counts,
)
from satchel.cli.actions.checks_online import check_services
from satchel.cli.actions.doctor_fields import fields_of_mira
from satchel.cli.output import write_json, write_line
from satchel.cli.place import Place
from satchel.gateway.data_folder import DataFolder
from satchel.runtime.logs import setup_logs

_MARKS = {Verdict.OK: "ok  ", Verdict.WARN: "warn", Verdict.FAIL: "FAIL"}


def doctor(place: Place, *, as_json: bool) -> bool:
    """Run every check and print what came out; tell whether none failed."""
    setup_logs("CRITICAL", "text")
    found = run_checks(place)
    if as_json:
        told = {"healthy": found.are_healthy, **fields_of_mira(place, found.status)}
        write_json({**told, "checks": [asdict(check) for check in found.checks]})
    else:
        for check in found.checks:
            write_line(format_check(check))
    return found.are_healthy


def run_checks(place: Place) -> Findings:
    """Check this machine, the data folder, and then the services themselves."""
    folder = DataFolder(place.data_dir)
    checks = [
        *(check_python(), check_packages(), check_model(), check_token_counts()),
        check_configuration(place.configuration),
    ]
    if not place.url:
        checks += [check_folder(folder), check_owner(folder), *check_ports(folder)]
    return asyncio.run(_check_running(place, folder, checks))


async def _check_running(place: Place, folder: DataFolder, before: Sequence[Check]) -> Findings:
    of_database = [] if place.url or not folder.database.exists() else [await check_database(folder)]
    checks = [*before, *of_database]
    if not Findings(checks).are_healthy:
        return Findings(checks)  # the services would fail for the same cause, and say it less clearly
    of_services = await check_services(place)
    return replace(of_services, checks=[*checks, *of_services.checks])


def format_check(check: Check) -> str:
    """Return a check for a person: its verdict, and the remedy below when there is one."""
    line = f"{_MARKS[check.verdict]}  {check.name:<12} {check.detail}"
    return f"{line}\n      {'':<12} {check.remedy}" if check.remedy else line
