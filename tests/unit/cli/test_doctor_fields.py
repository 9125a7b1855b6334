"""What `doctor --json` says at its top level, as scripts for MIRA read it."""

import json
from pathlib import Path

from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.cli.actions.doctor_fields import fields_of_mira
from satchel.cli.configuration.loading import Configuration
from satchel.cli.place import Place
from satchel.runtime.settings import Values

SET = {
    "SATCHEL_MCP_TRANSPORT": "sse",
    "SATCHEL_MCP_ADDRESS": "127.0.0.1:4001",
    "SATCHEL_GATEWAY_REST": "false",
    "SATCHEL_GATEWAY_HTTP_ADDRESS": "127.0.0.1:9000",
    "SATCHEL_METRICS_ENABLED": "false",
    "SATCHEL_METRICS_PROMETHEUS_ADDR": "127.0.0.1:9091",
    "SATCHEL_SOUL_ENABLED": "true",
    "SATCHEL_WEBHOOKS_ENABLED": "true",
    "SATCHEL_WEBHOOKS_ENDPOINTS": '["https://a.example/in", "https://b.example/in"]',
}


def test_settings_are_told_as_they_are_set(tmp_path: Path) -> None:
    found = fields_of_mira(Place(tmp_path, configuration=Configuration(Values(SET))), None)

    assert (found["mcp_transport"], found["mcp_address"]) == ("sse", "127.0.0.1:4001")
    assert (found["api_enabled"], found["api_address"]) == (False, "127.0.0.1:9000")
    assert (found["metrics_enabled"], found["prometheus_addr"]) == (False, "127.0.0.1:9091")
    assert (found["soul_enabled"], found["webhooks_enabled"], found["webhook_count"]) == (True, True, 2)
    assert found["storage_path"] == str(tmp_path)


def test_what_only_services_know_is_empty_where_they_do_not_answer(tmp_path: Path) -> None:
    found = fields_of_mira(Place(tmp_path, configuration=Configuration(Values({}))), None)

    assert [found[name] for name in ("stats", "models", "uptime", "model")] == [None] * 4
    assert json.loads(json.dumps(found)) == found


def test_the_first_model_is_the_one_that_is_used(tmp_path: Path) -> None:
    status = pb.GetStatusResponse(models=["first", "second"], uptime=1.5)
    status.stats.verbatim_count = 3
    found = fields_of_mira(Place(tmp_path, configuration=Configuration(Values({}))), status)

    assert (found["model"], found["models"], found["uptime"]) == ("first", ["first", "second"], 1.5)
    stats = found["stats"]
    assert isinstance(stats, dict)
    assert stats["verbatim_count"] == 3
