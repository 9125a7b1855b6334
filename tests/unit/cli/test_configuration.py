"""The configuration file: where it is, what it does, and what is refused."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from requirements import requirement
from satchel.cli.actions.checks import Verdict
from satchel.cli.actions.checks_offline import check_configuration
from satchel.cli.configuration.loading import Configuration, read_configuration
from satchel.cli.configuration.locating import user_folder
from satchel.cli.configuration.mira import KEYS
from satchel.cli.configuration.sections import SECTIONS, native_keys
from satchel.cli.main import run
from satchel.cli.place import Given, Place, given_to, place_of
from satchel.runtime.settings import SettingsError, Values, load

SECRET = "hunter2"  # noqa: S105  # of a test
Writer = Callable[..., Path]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, an empty configuration folder, and no variables of ours."""
    for name in os.environ:
        if name.startswith(("SATCHEL_", "MIRA_")):
            monkeypatch.delenv(name)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return here


@pytest.fixture
def written(tmp_path: Path) -> Writer:
    """Write a file, named or where it is looked for, and return its path."""

    def write(text: str | Mapping[str, Any], name: str = "named.yaml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else yaml.safe_dump(text), encoding="utf-8")
        return path

    return write


def nested(path: str, value: object) -> dict[str, Any]:
    """Return a mapping with one value at a dotted path."""
    head, _, rest = path.partition(".")
    return {head: nested(rest, value) if rest else value}


def merged(parts: Iterator[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in parts:
        merge(found, part)
    return found


def merge(into: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


def values_of(path: Path, environ: Mapping[str, str] | None = None) -> Values:
    return read_configuration(path, environ or {}).values


def refusal(path: Path, environ: Mapping[str, str] | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        read_configuration(path, environ or {})
    return str(caught.value)


def setting_of(values: Mapping[str, str], variable: str) -> object:
    """Return the value of a setting, by its variable."""
    key = next(key for key in native_keys().values() if key.doc.variable == variable)
    return getattr(load(key.section.cls, key.section.prefix, values), key.doc.field)


# Where it is


@requirement("config:found")
def test_the_first_file_that_is_there_is_used(written: Writer, home: Path) -> None:
    by_user = written({"allocator": {"default_budget": 1}}, "config/satchel/config.yaml")
    assert read_configuration(None, os.environ).file == by_user

    here = written({"allocator": {"default_budget": 2}}, "here/config.yaml")
    assert (here.parent, read_configuration(None, os.environ).file) == (home, here)

    mira, satchel, option = (written({}, f"{name}.yaml") for name in ("mira", "satchel", "option"))
    environ = {**os.environ, "MIRA_CONFIG": str(mira)}
    assert read_configuration(None, environ).file == mira
    environ["SATCHEL_CONFIG"] = str(satchel)
    assert read_configuration(None, environ).file == satchel
    found = read_configuration(option, environ)
    assert (found.file, found.named_by) == (option, "--config")


@requirement("config:found")
def test_a_file_that_is_named_and_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"--config names .*nowhere\.yaml"):
        read_configuration(tmp_path / "nowhere.yaml", {})
    with pytest.raises(SettingsError, match="MIRA_CONFIG names"):
        read_configuration(None, {"MIRA_CONFIG": "nowhere.yaml"})


@requirement("config:found")
def test_without_a_file_the_environment_holds() -> None:
    found = read_configuration(None, {"SATCHEL_STORE_READERS": "3"})

    assert (found.file, found.described, found.values["SATCHEL_STORE_READERS"]) == (None, "none", "3")


@requirement("config:found")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("title: My blog\nbaseURL: /\n", "'title' in line 1"),
        ("api:\n  port: 80\n", "'api.port' in line 2"),
        ("storage: {type: sqlite}\nserver: {port: 1}\n", "'server' in line 2"),
        ("", "it is empty"),
        ("- a\n- list\n", "must be a mapping"),
        ("{{ template }}\n", "must be a text"),
    ],
)
def test_a_file_of_another_program_in_the_current_folder_is_passed_over_and_told(
    written: Writer, text: str, why: str
) -> None:
    written(text, "here/config.yaml")

    found = read_configuration(None, {})

    assert found.file is None
    assert why in found.passed_over
    assert check_configuration(found).verdict is Verdict.WARN


@requirement("config:found")
def test_a_file_of_ours_in_the_current_folder_is_used_or_refused(written: Writer) -> None:
    path = written("mcp: {transport: stdio}\n", "here/config.yaml")
    assert read_configuration(None, {}).file == path

    written("allocator: {defualt_budget: 1}\n", "here/config.yaml")
    with pytest.raises(SettingsError, match=r"allocator\.defualt_budget is no key"):
        read_configuration(None, {})


@requirement("config:found")
def test_the_users_folder_is_that_of_the_operating_system(tmp_path: Path) -> None:
    assert user_folder({"XDG_CONFIG_HOME": "/x"}, "linux") == Path("/x")
    assert user_folder({"XDG_CONFIG_HOME": "relative"}, "linux") == Path.home() / ".config"
    assert user_folder({}, "darwin") == Path.home() / "Library" / "Application Support"
    assert user_folder({"APPDATA": str(tmp_path)}, "win32") == tmp_path


# What wins


@requirement("config:layers")
def test_an_option_wins_over_a_variable_and_that_over_the_file(written: Writer) -> None:
    path = written({"storage": {"path": "/file"}, "allocator": {"default_budget": 1, "default_top_k": 2}})
    environ = {"SATCHEL_ALLOCATOR_DEFAULT_BUDGET": "5", "MIRA_DATA_PATH": "/mira"}

    configuration = read_configuration(path, environ)
    place = Place(Path(), configuration=configuration)
    values = place.with_options(
        {"SATCHEL_ALLOCATOR_DEFAULT_TOP_K": ("--top", "7"), "SATCHEL_GRPC": ("--grpc", "")}
    )

    assert setting_of(values, "SATCHEL_ALLOCATOR_DEFAULT_BUDGET") == 5
    assert setting_of(values, "SATCHEL_ALLOCATOR_DEFAULT_TOP_K") == 7
    assert setting_of(configuration.values, "SATCHEL_DATA_DIR") == Path("/mira")
    assert "SATCHEL_GRPC" not in values
    ours = read_configuration(path, {**environ, "SATCHEL_DATA_DIR": "/satchel"})
    assert setting_of(ours.values, "SATCHEL_DATA_DIR") == Path("/satchel")


class Context:
    """What typer passes to a command."""

    def __init__(self, given: Given) -> None:
        self._given = given

    def find_object(self, _: type) -> Given:
        return self._given


@requirement("config:layers")
def test_the_place_of_a_command_is_what_options_variables_and_file_say(
    written: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written({"storage": {"path": "~/memory"}, "satchel": {"project": "file", "token": "sk_file"}})
    monkeypatch.setenv("SATCHEL_PROJECT", "variable")

    place = place_of(Context(Given(config=path)))  # type: ignore[arg-type]  # all that is asked of it

    assert (place.data_dir, place.project) == (Path.home() / "memory", "variable")
    assert (place.token.reveal(), place.configuration.file) == ("sk_file", path)
    assert given_to(Context(Given(config=path))).config == path  # type: ignore[arg-type]


@requirement("config:layers")
def test_a_variable_of_mira_chooses_the_kind_of_store() -> None:
    assert read_configuration(None, {"MIRA_STORAGE_TYPE": "memory"}).values["SATCHEL_STORE_URL"] == "memory:"
    assert "SATCHEL_STORE_URL" not in read_configuration(None, {"MIRA_STORAGE_TYPE": "sqlite"}).values


# What it does


@requirement("config:effective")
def test_a_file_with_every_key_of_mira_at_its_default_is_taken(written: Writer) -> None:
    refused = {"storage.postgres", "hnsw.encryption_key"}
    defaults = {
        row.path: yaml.safe_load(row.default or '""') for row in KEYS.values() if row.path not in refused
    }
    path = written(merged(nested(key, value) for key, value in defaults.items()))

    configuration = read_configuration(path, {})

    given = {key for key, value in defaults.items() if value not in ("", None)}
    assert configuration.keys.keys() == given
    assert setting_of(configuration.values, "SATCHEL_ALLOCATOR_SESSION_BONUS") == 1.2
    assert setting_of(configuration.values, "SATCHEL_ALLOCATOR_DUPLICATE_SIMILARITY") == 0.88
    assert setting_of(configuration.values, "SATCHEL_STORE_MMAP_MIB") == 256
    assert setting_of(configuration.values, "SATCHEL_GATEWAY_HTTP_ADDRESS") == "127.0.0.1:8080"


@requirement("config:effective")
@pytest.mark.parametrize(
    ("key", "value", "variable", "expected"),
    [
        ("storage.path", "/data", "SATCHEL_DATA_DIR", Path("/data")),
        ("storage.type", "memory", "SATCHEL_STORE_URL", "memory:"),
        ("storage.sqlite.synchronous", "NORMAL", "SATCHEL_STORE_SYNCHRONOUS", "normal"),
        ("storage.sqlite.cache_size", -64000, "SATCHEL_STORE_CACHE_MIB", 63),
        ("storage.sqlite.cache_size", 1000, "SATCHEL_STORE_CACHE_MIB", 4),
        ("storage.sqlite.mmap_size", 1, "SATCHEL_STORE_MMAP_MIB", 1),
        ("storage.sqlite.mmap_size", 0, "SATCHEL_STORE_MMAP_MIB", 0),
        ("embeddings.model_hash", "8199be6f", "SATCHEL_EMBEDDER_MODEL_SHA256", "8199be6f"),
        ("embeddings.dimension", 768, "SATCHEL_EMBEDDER_DIMENSION", 768),
        ("embeddings.batch_size", 8, "SATCHEL_EMBEDDER_BATCH_TEXTS", 8),
        ("embeddings.cache_size", 5, "SATCHEL_EMBEDDER_CACHE_QUERIES", 5),
        ("hnsw.M", 16, "SATCHEL_INDEX_LINKS", 16),
        ("hnsw.Ml", 0.5, "SATCHEL_INDEX_LEVEL_FACTOR", 0.5),
        ("hnsw.ef_construction", 0, "SATCHEL_INDEX_EF_CONSTRUCTION", 200),
        ("hnsw.ef_construction", 40, "SATCHEL_INDEX_EF_CONSTRUCTION", 40),
        ("hnsw.ef_search", 50, "SATCHEL_INDEX_EF_SEARCH", 50),
        ("allocator.default_budget", 2000, "SATCHEL_ALLOCATOR_DEFAULT_BUDGET", 2000),
        ("allocator.max_candidates", 20, "SATCHEL_ALLOCATOR_MAX_CANDIDATES", 20),
        ("allocator.max_candidates", 20, "SATCHEL_ALLOCATOR_MOST_CANDIDATES", 20),
        ("allocator.max_candidates", 20, "SATCHEL_ALLOCATOR_DENSE_DEPTH", 20),
        ("allocator.session_window_seconds", 60, "SATCHEL_ALLOCATOR_SESSION_WINDOW_S", 60.0),
        ("allocator.session_boost_beta", 0.1, "SATCHEL_ALLOCATOR_SESSION_BONUS", 1.1),
        ("allocator.session_boost_beta", 0.9, "SATCHEL_ALLOCATOR_SESSION_BONUS", 1.2),
        ("allocator.session_boost_max", 1.1, "SATCHEL_ALLOCATOR_SESSION_BONUS", 1.1),
        ("allocator.causal_penalty_alpha", 0.3, "SATCHEL_ALLOCATOR_CAUSAL_RATE", 0.3),
        ("allocator.density_sigmoid.k", 3, "SATCHEL_ALLOCATOR_DENSITY_SLOPE", 3.0),
        ("allocator.density_sigmoid.mu", 0.4, "SATCHEL_ALLOCATOR_DENSITY_MIDDLE", 0.4),
        ("decay_rates.decision", 0.2, "SATCHEL_ALLOCATOR_DECAY_DECISION", 0.2),
        ("decay_rates.fact", 0.2, "SATCHEL_ALLOCATOR_DECAY_FACT", 0.2),
        ("decay_rates.preference", 0.2, "SATCHEL_ALLOCATOR_DECAY_PREFERENCE", 0.2),
        ("decay_rates.session_note", 0.2, "SATCHEL_ALLOCATOR_DECAY_SESSION_NOTE", 0.2),
        ("decay_rates.debug_log", 0.2, "SATCHEL_ALLOCATOR_DECAY_DEBUG_LOG", 0.2),
        ("archive_thresholds.session_note", 31, "SATCHEL_STORE_ARCHIVE_SESSION_NOTE_DAYS", 31.0),
        ("archive_thresholds.debug_log", 8, "SATCHEL_STORE_ARCHIVE_DEBUG_LOG_DAYS", 8.0),
        ("extraction.min_entity_length", 4, "SATCHEL_STORE_MIN_ENTITY_LENGTH", 4),
        ("extraction.causal_lookback", 9, "SATCHEL_STORE_CAUSAL_LOOKBACK", 9),
        ("extraction.causal_max_days", 3, "SATCHEL_STORE_CAUSAL_MAX_DAYS", 3.0),
        ("extraction.llm.enabled", True, "SATCHEL_STORE_LLM_ENABLED", True),
        ("extraction.llm.endpoint", "http://h:1", "SATCHEL_STORE_LLM_ENDPOINT", "http://h:1"),
        ("extraction.llm.model", "m", "SATCHEL_STORE_LLM_MODEL", "m"),
        ("extraction.llm.timeout_seconds", 3, "SATCHEL_STORE_LLM_TIMEOUT_S", 3.0),
        ("extraction.llm.fallback_on_error", False, "SATCHEL_STORE_LLM_FALLBACK_ON_ERROR", False),
        ("recall.adaptive_threshold_floor", 0.2, "SATCHEL_ALLOCATOR_THRESHOLD_FLOOR", 0.2),
        ("recall.adaptive_threshold_ceiling", 0.5, "SATCHEL_ALLOCATOR_THRESHOLD_CEILING", 0.5),
        ("recall.enable_fts5", False, "SATCHEL_ALLOCATOR_LEXICAL", False),
        ("recall.fts5_limit", 7, "SATCHEL_ALLOCATOR_LEXICAL_DEPTH", 7),
        ("recall.rrf_k", 7, "SATCHEL_ALLOCATOR_RRF_K", 7),
        ("recall.query_expansion.enabled", True, "SATCHEL_ALLOCATOR_EXPANSION", True),
        ("recall.query_expansion.num_variants", 1, "SATCHEL_ALLOCATOR_EXPANSION_VARIANTS", 1),
        ("recall.search_time_clustering.enabled", False, "SATCHEL_ALLOCATOR_DUPLICATE_SIMILARITY", 1.0),
        (
            "recall.search_time_clustering.similarity_threshold",
            0.9,
            "SATCHEL_ALLOCATOR_DUPLICATE_SIMILARITY",
            0.9,
        ),
        ("mcp.name", "mira", "SATCHEL_MCP_NAME", "mira"),
        ("mcp.version", "0.4.7", "SATCHEL_MCP_VERSION", "0.4.7"),
        ("mcp.transport", "sse", "SATCHEL_MCP_TRANSPORT", "sse"),
        ("mcp.timeout_seconds", 5, "SATCHEL_MCP_TIMEOUT_SECONDS", 5.0),
        ("mcp.address", "localhost:4001", "SATCHEL_MCP_ADDRESS", "localhost:4001"),
        ("api.enabled", False, "SATCHEL_GATEWAY_REST", False),
        ("api.address", ":8081", "SATCHEL_GATEWAY_HTTP_ADDRESS", "127.0.0.1:8081"),
        ("api.read_timeout_seconds", 5, "SATCHEL_GATEWAY_READ_TIMEOUT_S", 5.0),
        ("api.write_timeout_seconds", 5, "SATCHEL_GATEWAY_WRITE_TIMEOUT_S", 5.0),
        ("metrics.enabled", False, "SATCHEL_METRICS_ENABLED", False),
        ("metrics.prometheus_addr", ":9091", "SATCHEL_METRICS_PROMETHEUS_ADDR", "127.0.0.1:9091"),
        ("metrics.report_interval_seconds", 5, "SATCHEL_METRICS_REPORT_INTERVAL_SECONDS", 5.0),
        ("webhooks.enabled", True, "SATCHEL_WEBHOOKS_ENABLED", True),
        ("webhooks.workers", 5, "SATCHEL_WEBHOOKS_WORKERS", 5),
        ("webhooks.queue_size", 5, "SATCHEL_WEBHOOKS_QUEUE_SIZE", 5),
        ("webhooks.timeout_seconds", 5, "SATCHEL_WEBHOOKS_TIMEOUT_SECONDS", 5.0),
        ("soul.enabled", True, "SATCHEL_SOUL_ENABLED", True),
        ("soul.extraction.min_trait_confidence", 0.5, "SATCHEL_SOUL_MIN_TRAIT_CONFIDENCE", 0.5),
        ("soul.extraction.min_observations_for_trait", 7, "SATCHEL_SOUL_MIN_OBSERVATIONS_FOR_TRAIT", 7),
        ("soul.recall.default_budget_tokens", 7, "SATCHEL_SOUL_DEFAULT_BUDGET_TOKENS", 7),
        ("soul.drift_detection.threshold", 0.5, "SATCHEL_SOUL_DRIFT_THRESHOLD", 0.5),
        ("soul.drift_detection.window_size", 7, "SATCHEL_SOUL_DRIFT_WINDOW_SIZE", 7),
        (
            "soul.drift_detection.auto_check_after_capture",
            False,
            "SATCHEL_SOUL_DRIFT_CHECK_AFTER_CAPTURE",
            False,
        ),
        ("soul.model_swap.auto_reinforce", False, "SATCHEL_SOUL_SWAP_AUTO_REINFORCE", False),
        ("soul.evolution.enabled", False, "SATCHEL_SOUL_EVOLUTION_ENABLED", False),
        ("soul.evolution.max_history_versions", 7, "SATCHEL_SOUL_MAX_HISTORY_VERSIONS", 7),
        ("soul.memory.enrich_with_mira_memories", True, "SATCHEL_SOUL_ENRICH_WITH_MIRA_MEMORIES", True),
        ("soul.memory.max_mira_memories", 7, "SATCHEL_SOUL_MAX_MIRA_MEMORIES", 7),
    ],
)
def test_a_key_of_mira_sets_what_it_means_here(
    written: Writer, key: str, value: object, variable: str, expected: object
) -> None:
    values = values_of(written(nested(key, value)))

    found = setting_of(values, variable)
    assert (found, type(found)) == (expected, type(expected))


@requirement("config:effective")
@pytest.mark.parametrize("method", ["iqr", "elbow", "mean_stddev", "OFF"])
def test_a_method_for_the_threshold_is_taken_by_its_name(written: Writer, method: str) -> None:
    values = values_of(written(nested("recall.adaptive_threshold_method", method)))

    assert getattr(setting_of(values, "SATCHEL_ALLOCATOR_THRESHOLD_METHOD"), "value", "") == method.lower()


@requirement("config:effective")
def test_every_setting_of_ours_is_a_key_of_the_file(written: Writer) -> None:
    """The sample is the default where there is one: what is proven is that each key reaches its setting."""
    samples = {path: key.doc.default for path, key in native_keys().items() if key.doc.default}

    values = values_of(written(merged(nested(path, text) for path, text in samples.items())))

    missing = [path for path in samples if not any(values.origin(name).file for name in variables(path))]
    assert missing == []
    for section in SECTIONS:
        load(section.cls, section.prefix, values)


def variables(path: str) -> list[str]:
    row = KEYS.get(path)
    return [*(row.conversion.variables if row else ()), native_keys()[path].doc.variable]


@requirement("config:effective")
def test_lists_and_objects_may_be_written_as_such(written: Writer) -> None:
    path = written(
        {
            "gateway": {"allowed_hosts": ["a.example", "b.example"]},
            "webhooks": {
                "endpoints": ["http://127.0.0.1:1/a", {"url": "http://127.0.0.1:1/b", "secret": "s"}]
            },
            "satchel": {"keys": [{"name": "ci", "token": "sk_ci", "right": "write", "projects": ["p"]}]},
        }
    )
    values = values_of(path)

    endpoints: Any = setting_of(values, "SATCHEL_WEBHOOKS_ENDPOINTS")
    keys: Any = setting_of(values, "SATCHEL_KEYS")
    assert setting_of(values, "SATCHEL_GATEWAY_ALLOWED_HOSTS") == ("a.example", "b.example")
    assert [one.url for one in endpoints] == ["http://127.0.0.1:1/a", "http://127.0.0.1:1/b"]
    assert [(one.name, one.right, one.projects) for one in keys] == [("ci", "write", ("p",))]


@requirement("keys:rights")
@pytest.mark.parametrize(
    ("permissions", "right", "may_delete"),
    [
        (["read"], "read", True),
        (["write", "read"], "write", False),
        ("read, write, delete", "write", True),
        (["read", "write", "delete", "admin"], "admin", True),
        (["read", "write", "admin"], "admin", False),
    ],
)
def test_a_token_of_mira_gets_the_permissions_that_are_listed_and_no_more(
    written: Writer, permissions: object, right: str, *, may_delete: bool
) -> None:
    values = values_of(written({"api": {"wing_tokens": {"sk_1": permissions}}}))

    keys: Any = setting_of(values, "SATCHEL_KEYS")
    (key,) = keys
    assert (key.token.reveal(), key.right, key.may_delete) == ("sk_1", right, may_delete)


@requirement("keys:rights")
@pytest.mark.parametrize("permissions", [["write"], ["admin"], ["read", "delete"], ["read", "admin"], []])
def test_permissions_that_no_key_can_have_are_refused_and_not_widened(
    written: Writer, permissions: list[str]
) -> None:
    assert "api.wing_tokens" in refusal(written({"api": {"wing_tokens": {"sk_1": permissions}}}))


@requirement("keys:network")
def test_an_address_without_a_host_is_every_address_only_where_callers_need_a_key(written: Writer) -> None:
    guarded = {"api": {"address": ":8080", "auth_token": "sk_1"}, "mcp": {"address": ":3001"}}

    here = values_of(written({"mcp": {"address": ":3001"}}))
    both = values_of(written(guarded))
    by_variable = values_of(written({"mcp": {"address": ":3001"}}), {"SATCHEL_AUTH_TOKEN": "sk_1"})

    assert here["SATCHEL_MCP_ADDRESS"] == "127.0.0.1:3001"
    assert both["SATCHEL_MCP_ADDRESS"] == by_variable["SATCHEL_MCP_ADDRESS"] == "0.0.0.0:3001"


@requirement("config:effective")
def test_the_name_of_a_model_is_that_of_the_packaged_one_or_of_the_folder(written: Writer) -> None:
    named = {"embeddings": {"current_model": "my/model"}}

    assert "embedder.model_folder" in refusal(written(named))
    beside = values_of(written({**named, "embedder": {"model_folder": "/models/mine"}}))
    assert setting_of(beside, "SATCHEL_EMBEDDER_MODEL_NAME") == "my/model"


# What is refused


@requirement("config:refused")
@pytest.mark.parametrize(
    ("text", "line", "key", "told"),
    [
        (
            "allocator:\n  default_budgett: 5\n",
            2,
            "allocator.default_budgett",
            "Did you mean 'allocator.default_budget'?",
        ),
        ("nonsense: 1\n", 1, "nonsense", "is no key of this file"),
        ("recall:\n\n  rrf_k: 0\n", 3, "recall.rrf_k", "must be at least 1, not 0."),
        (
            "allocator: {default_budget: 2000000}\n",
            1,
            "allocator.default_budget",
            "Without the key it is 4000.",
        ),
        ("allocator: {default_budget: many}\n", 1, "allocator.default_budget", "must be a whole number"),
        ("store: {readers: [1]}\n", 1, "store.readers", "must be a single value"),
        ("store: 7\n", 1, "store", "must be a section with keys"),
        ("recall: {adaptive_threshold_method: best}\n", 1, "recall.adaptive_threshold_method", "iqr, elbow"),
        ("mcp: {transport: pigeon}\n", 1, "mcp.transport", "stdio, sse, http"),
        (
            "recall: {adaptive_threshold_floor: 0.9}\n",
            1,
            "recall.adaptive_threshold_floor",
            "threshold_ceiling",
        ),
        ("allocator: {session_boost_max: 1.6}\n", 1, "allocator.session_boost_max", "[1, 1.5]"),
        ("hnsw: {M: 32}\nindex: {links: 16}\n", 2, "index.links", "contradicts hnsw.M in line 1"),
        ("system: {version: 0.8.5}\n", 1, "system.version", "0.4.7"),
        ("storage: {type: postgres}\n", 1, "storage.type", "sqlite"),
        ("storage:\n  postgres:\n    url: x\n", 2, "storage.postgres", "no PostgreSQL backend"),
        ("storage: {sqlite: {journal_mode: DELETE}}\n", 1, "storage.sqlite.journal_mode", "must be WAL"),
        ("storage: {sqlite: {synchronous: 'off'}}\n", 1, "storage.sqlite.synchronous", "full, normal"),
        ("gateway: {http_address: localhost}\n", 1, "gateway.http_address", "host:port"),
        ("webhooks: {endpoints: ['ftp://x']}\n", 1, "webhooks.endpoints", "http or https"),
        ("a: 1\na: 2\n", 2, "a key", "a second time"),
        ("a: &b {c: 1}\nd: *b\n", 1, "the file", "write it out"),
        ("a: !!python/object/apply:os.system ['true']\n", 1, "the file", "more than texts"),
        ("? [1, 2]\n: 3\n", 1, "a key", "must be a text"),
        ("a:\n  - b\n c: d\n", 3, "the file", "is no YAML: the indentation does not fit"),
        ("a: b: c\n", 1, "the file", "is no YAML: a colon stands where none can be"),
        ("a: 1\nbut\n", 3, "the file", "is no YAML: a key has no colon after it."),
        ("a:\n\tb: 1\n", 2, "the file", "is no YAML: a value begins with a tab"),
        ("a: 'b\n", 2, "the file", "is no YAML: a quotation mark is not closed."),
        ("a: [1, 2\nb: 3\n", 2, "the file", "is no YAML: a list in brackets is not closed"),
        ("a: {b: 1\nc: 3\n", 2, "the file", "is no YAML: a section in braces is not closed"),
        ('a: "\\q"\n', 1, "the file", "is no YAML: a backslash in double quotes"),
        ("a: *b\n", 1, "the file", "is no YAML: a value begins with an asterisk"),
        ("a: 1\n---\na: 2\n", 2, "the file", "is no YAML: a second document begins"),
        ("a: 1\nb: \x07\n", 2, "the file", "is no YAML: a control character is not allowed."),
        (
            "api:\n  auth_token: yes\n",
            2,
            "api.auth_token",
            "YAML reads true or false: put what you mean into quotes",
        ),
        ("satchel: {auth_token: 12345}\n", 1, "satchel.auth_token", "YAML reads a number"),
        ("store: {url: 2024-01-01}\n", 1, "store.url", "YAML reads a date"),
        ("gateway: {allowed_hosts: [a, on]}\n", 1, "gateway.allowed_hosts", "must be a text"),
        ("satchel:\n  keys:\n    - {name: a, token: 1}\n", 2, "satchel.keys", "must be a text"),
        ("satchel: {keys: [{name: a, token: b, projects: [1]}]}\n", 1, "satchel.keys", "must be a text"),
        ("just a text\n", 1, "the file", "must be a mapping"),
    ],
)
def test_what_cannot_be_used_is_refused_with_file_line_key_and_remedy(
    written: Writer, text: str, line: int, key: str, told: str
) -> None:
    path = written(text)

    message = refusal(path)

    assert f"{path}, line {line}: {key} " in message
    assert told in message


@requirement("config:refused")
@pytest.mark.parametrize("row", [row for row in KEYS.values() if row.conversion.effect.startswith("Only ")])
def test_a_key_of_mira_without_a_choice_takes_what_is_true_and_says_why_it_takes_nothing_else(
    written: Writer,
    row: Any,  # noqa: ANN401  # a key of MIRA
) -> None:
    other = {"false": "true", "WAL": "OFF", "MEMORY": "FILE"}.get(row.default, "7")

    assert f"{row.path} must be {row.default}: " in refusal(written(nested(row.path, other)))


@requirement("config:refused")
def test_everything_that_is_wrong_is_told_at_once_in_the_order_of_the_lines(written: Writer) -> None:
    message = refusal(written("allocator:\n  default_budget: -1\n  a: 1\nhnsw:\n  M: x\nb: 1\n"))

    assert [int(row.split("line ")[1].split(":")[0]) for row in message.splitlines()] == [2, 3, 5, 6]


@requirement("config:refused")
@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"a: \xff\xfe\n", "no UTF-8"),
        (b"#" * (1 << 20) + b"\n", "bytes"),
        (b"a: " + b"[" * 5000, "YAML"),
        (b"a: " + b"[" * 30 + b"]" * 30, "more than texts"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path, raw: bytes, told: str) -> None:
    path = tmp_path / "raw.yaml"
    path.write_bytes(raw)

    assert told in refusal(path)


@requirement("config:refused")
def test_a_key_without_a_value_counts_as_absent(written: Writer) -> None:
    path = written("api:\n  auth_token:\n  wing_tokens: \nhnsw:\n  encryption_key: ''\nrecall:\n")

    assert not any(name.startswith("SATCHEL_") for name in values_of(path))


@requirement("config:refused")
def test_a_bad_variable_is_told_by_its_own_name_beside_a_good_file(written: Writer) -> None:
    path = written({"allocator": {"default_budget": 5}})

    assert refusal(path, {"SATCHEL_STORE_READERS": "x"}).startswith("SATCHEL_STORE_READERS must be")


@requirement("config:refused")
@pytest.mark.parametrize("variable", ["MIRA_POSTGRES_URL", "MIRA_SQLITE_KEY", "MIRA_HNSW_KEY"])
def test_a_variable_that_promises_what_is_not_there_is_refused(variable: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_configuration(None, {variable: SECRET})

    assert str(caught.value).startswith(variable)
    assert SECRET not in str(caught.value)
    assert read_configuration(None, {variable: ""}).file is None


# Secrets


@requirement("config:secrets")
@pytest.mark.parametrize(
    "text",
    [
        f"api:\n  auth_token: *{SECRET}\n",
        f"api:\n  auth_token: &{SECRET}\n  auth_token: &{SECRET} x\n",
        f"api:\n  auth_token: [{SECRET}]\n",
        f"api:\n  auth_token: '{SECRET} {SECRET}'\n",
        f"api:\n  auth_token: '{SECRET}\n",
        f"api:\n  auth_token: @{SECRET}\n",
        f"api:\n  auth_token: !{SECRET} x\n",
        f"api:\n  token: {SECRET}\n",
        f"api:\n  wing_tokens:\n    {SECRET}: [write]\n",
        f"api:\n  wing_tokens:\n    {SECRET}: [read]\n    {SECRET}: [read]\n",
        f"api:\n  wing_tokens: {SECRET}\n",
        f"api:\n  wing_tokens: {{{SECRET}: {{read: true}}}}\n",
        f"api:\n  auth_token: {SECRET}\n  wing_tokens: {{{SECRET}: [read]}}\n",
        f"satchel:\n  keys: [{{name: a, token: {SECRET}, right: fly}}]\n",
        f"satchel:\n  keys: {SECRET}\n",
        f"hnsw:\n  encryption_key: {SECRET}\n",
        f"storage:\n  postgres: {{url: 'postgres://u:{SECRET}@h/d'}}\n",
        f"webhooks:\n  endpoints: [{{url: 'ftp://u:{SECRET}@h/', secret: {SECRET}}}]\n",
        f"webhooks:\n  endpoints: [{{url: 'http://h/', secrets: {SECRET}}}]\n",
    ],
)
def test_no_secret_is_printed_whatever_is_wrong_with_the_file(
    written: Writer, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    path = written(text)

    assert SECRET not in refusal(path)
    for arguments in (
        ["config", "validate"],
        ["config", "validate", "--json"],
        ["config", "show"],
        ["status"],
    ):
        with pytest.raises(SystemExit) as ended:
            run(["-c", str(path), *arguments])
        shown = capsys.readouterr()
        assert ended.value.code in (1, 2)
        assert SECRET not in shown.out + shown.err


@requirement("config:secrets")
def test_no_secret_is_shown_of_a_file_that_is_right(
    written: Writer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(
        {
            "api": {"auth_token": f"{SECRET}-a", "wing_tokens": {f"{SECRET}-b": ["read"]}},
            "webhooks": {"endpoints": [{"url": f"http://u:{SECRET}@127.0.0.1/", "secret": f"{SECRET}-c"}]},
            "store": {"llm_api_key": f"{SECRET}-d", "api_key": f"{SECRET}-e"},
        }
    )
    monkeypatch.setenv("SATCHEL_TOKEN", f"{SECRET}-f")

    for arguments in (["config", "show"], ["config", "show", "--json"], ["config", "validate"]):
        with pytest.raises(SystemExit) as ended:
            run(["-c", str(path), *arguments])
        shown = capsys.readouterr()
        assert (ended.value.code, SECRET in shown.out + shown.err) == (0, False)
    place = place_of(Context(Given(config=path)))  # type: ignore[arg-type]  # all that is asked of it
    assert SECRET not in f"{place!r} {place.values!r} {place.configuration!r}"


@requirement("config:secrets")
def test_of_the_url_of_a_webhook_the_host_is_shown_and_not_its_path_or_query(
    written: Writer, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = [
        f"https://hooks.example:8443/services/{SECRET}",
        f"https://u:{SECRET}@hooks.example/?token={SECRET}",
        "http://localhost:9000",
    ]
    path = written(
        {
            "webhooks": {"endpoints": urls},
            "store": {"llm_endpoint": f"http://localhost:11434/v1?key={SECRET}"},
        }
    )

    _, out = told(capsys, "-c", str(path), "config", "show", "--json")

    settings = json.loads(out)["settings"]
    assert SECRET not in out
    assert [one["url"] for one in settings["webhooks"]["endpoints"]] == [
        "https://hooks.example:8443/***",
        "https://***@hooks.example/***",
        "http://localhost:9000",
    ]
    assert settings["store"]["llm_endpoint"] == "http://localhost:11434/v1?***"


@requirement("config:secrets")
@pytest.mark.parametrize(
    "text", ["api: {auth_token: 8675309}\n", "satchel: {keys: [{name: a, token: 8675309}]}\n"]
)
def test_a_token_that_yaml_takes_for_a_number_is_refused_and_not_told(written: Writer, text: str) -> None:
    assert "8675309" not in refusal(written(text))


# Trust


@requirement("config:trust")
@pytest.mark.parametrize(
    "content",
    [
        {"webhooks": {"endpoints": ["https://evil.example/"]}},
        {"extraction": {"llm": {"endpoint": "http://evil.example"}}},
        {"satchel": {"url": "evil.example:50051"}},
        {"satchel": {"url": "store=127.0.0.1:1,allocator=evil.example:2"}},
        {"gateway": {"store": "dns:///evil.example:1"}},
    ],
)
def test_a_file_that_nobody_named_sends_nothing_to_another_machine(
    written: Writer, content: dict[str, Any]
) -> None:
    path = written(content, "here/config.yaml")

    with pytest.raises(SettingsError, match="names another machine"):
        read_configuration(None, {})
    assert read_configuration(path, {}).file == path
    assert read_configuration(None, {"SATCHEL_CONFIG": str(path)}).file == path


@requirement("config:trust")
def test_a_file_that_nobody_named_may_name_this_machine(written: Writer) -> None:
    written(
        {
            "webhooks": {"endpoints": ["http://localhost:9000/hook"]},
            "extraction": {"llm": {"endpoint": "http://127.0.0.1:11434"}},
            "satchel": {"url": "unix:/run/satchel.sock"},
        },
        "here/config.yaml",
    )

    assert read_configuration(None, {}).file is not None


# The commands


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as ended:
        run(arguments)
    return ended.value.code, capsys.readouterr().out


@requirement("config:refused")
def test_validate_tells_every_problem_in_parts(written: Writer, capsys: pytest.CaptureFixture[str]) -> None:
    path = written("recall:\n  rrf_k: 0\n")

    code, out = told(capsys, "-c", str(path), "config", "validate", "--json")

    shown = json.loads(out)
    (problem,) = shown["problems"]
    assert (code, shown["valid"]) == (1, False)
    assert (problem["file"], problem["line"], problem["key"]) == (str(path), 2, "recall.rrf_k")
    assert (problem["limit"], problem["remedy"]) == (
        "at least 1",
        "Constant k of reciprocal rank fusion. Without the key it is 60.",
    )


@requirement("config:refused")
def test_validate_checks_the_variables_where_there_is_no_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(capsys, "config", "validate")[0] == 0

    monkeypatch.setenv("SATCHEL_STROE_READERS", "4")
    _, out = told(capsys, "config", "validate", "--json")
    assert json.loads(out)["unknown_variables"] == ["SATCHEL_STROE_READERS"]

    monkeypatch.setenv("SATCHEL_STORE_READERS", "many")
    code, out = told(capsys, "config", "validate", "--json")
    assert (code, json.loads(out)["problems"][0]["key"]) == (1, "SATCHEL_STORE_READERS")


@requirement("config:layers")
def test_show_prints_a_file_that_gives_the_same_settings(
    written: Writer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written({"allocator": {"default_budget": 5}, "gateway": {"allowed_hosts": ["a.example"]}})
    _, text = told(capsys, "-c", str(path), "config", "show")
    _, first = told(capsys, "-c", str(path), "config", "show", "--json")

    again = written(text, "again.yaml")
    _, second = told(capsys, "-c", str(again), "config", "show", "--json")

    assert f"default_budget: 5  # {path}, line 2: allocator.default_budget" in text
    assert json.loads(first)["settings"] == json.loads(second)["settings"]
    assert json.loads(first)["origins"]["gateway.allowed_hosts"].endswith(": gateway.allowed_hosts")


@requirement("config:refused")
def test_help_needs_no_configuration(written: Writer, capsys: pytest.CaptureFixture[str]) -> None:
    path = written("nonsense: 1\n")

    assert told(capsys, "-c", str(path), "recall", "--help")[0] == 0


@requirement("config:refused")
def test_every_command_refuses_a_bad_file_as_wrong_usage(
    written: Writer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written("nonsense: 1\n")

    for arguments in (["up"], ["server"], ["mcp"], ["serve", "store"], ["status"], ["migrate"]):
        assert told(capsys, "-c", str(path), *arguments)[0] == 2


def test_a_configuration_is_described_by_its_file_and_what_named_it() -> None:
    assert Configuration(Values({}), Path("/a.yaml"), "--config").described == "/a.yaml (--config)"
    assert Configuration(Values({}), passed_over="it is not ours").described == "none (it is not ours)"
