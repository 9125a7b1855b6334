"""The files with which Prometheus and Grafana watch Satchel."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import promql
import pytest
import yaml

from requirements import requirement

ROOT = Path(__file__).resolve().parents[3]
PROMETHEUS = ROOT / "deploy/prometheus"
DASHBOARD = ROOT / "deploy/grafana/satchel.json"


def loaded(path: Path) -> Any:  # noqa: ANN401  # whatever the file holds
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def panels() -> list[dict[str, Any]]:
    found = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return [panel for panel in found if panel["type"] != "row"]


@requirement("metrics:watched")
def test_every_alert_says_what_is_wrong_how_bad_it_is_and_what_to_do() -> None:
    rules = [rule for group in loaded(PROMETHEUS / "alerts.yml")["groups"] for rule in group["rules"]]

    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert promql.read(rule["expr"]).metrics, rule["alert"]
        assert rule["labels"]["severity"] in {"page", "ticket"}, rule["alert"]
        assert set(rule["annotations"]) == {"summary", "description"}, rule["alert"]
        assert rule["annotations"]["description"].endswith("."), rule["alert"]


@requirement("metrics:watched")
def test_a_label_that_an_alert_shows_is_one_that_its_expression_keeps() -> None:
    for rule in (rule for group in loaded(PROMETHEUS / "alerts.yml")["groups"] for rule in group["rules"]):
        asked = promql.read(rule["expr"])
        shown = set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"])))
        is_whole = not asked.grouped_by - {"file"}
        assert shown <= asked.grouped_by or (is_whole and shown <= {"instance", "queue"}), rule["alert"]


@requirement("metrics:watched")
def test_every_panel_has_a_title_a_unit_and_a_place_of_its_own() -> None:
    places = [
        (panel["gridPos"]["x"] + x, panel["gridPos"]["y"] + y)
        for panel in panels()
        for x in range(panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["h"])
    ]

    assert len(set(places)) == len(places)
    assert max(x for x, _ in places) < 24
    assert len({panel["id"] for panel in panels()}) == len(panels())
    assert all(panel["title"] and panel["fieldConfig"]["defaults"]["unit"] for panel in panels())
    for heading in ("Overview", "Recall", "Store", "Index", "Embedder", "Errors"):
        assert f'"title": "{heading}"' in DASHBOARD.read_text(encoding="utf-8")


@requirement("metrics:watched")
def test_every_query_of_the_dashboard_is_about_the_chosen_source_and_processes() -> None:
    for panel in panels():
        for target in panel["targets"]:
            assert target["datasource"]["uid"] == "${datasource}"
            for name, matchers in promql.read(target["expr"]).metrics:
                assert {("job", "=~", "$job"), ("instance", "=~", "$instance")} <= set(matchers), name


@requirement("metrics:watched")
def test_prometheus_reads_all_five_processes_of_the_compose_file_and_these_alerts() -> None:
    config, compose = loaded(PROMETHEUS / "prometheus.yml"), loaded(ROOT / "compose.yaml")
    (job,) = config["scrape_configs"]
    targets = [target for group in job["static_configs"] for target in group["targets"]]
    ours = {name for name, service in compose["services"].items() if "build" in service}
    environments = {name: compose["services"][name]["environment"] for name in ours}

    assert {f"{name}:9464" for name in ours} == set(targets)
    assert {one["SATCHEL_METRICS_PROMETHEUS_ADDR"] for one in environments.values()} == {"0.0.0.0:9464"}
    assert all((PROMETHEUS / name).is_file() for name in config["rule_files"])


@requirement("metrics:watched")
@pytest.mark.parametrize("arguments", [("rules", "alerts.yml"), ("config", "prometheus.yml")])
def test_promtool_finds_no_fault(arguments: tuple[str, str]) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")

    kind, name = arguments
    done = subprocess.run(  # a tool of the developer's own
        [promtool, "check", kind, PROMETHEUS / name], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
