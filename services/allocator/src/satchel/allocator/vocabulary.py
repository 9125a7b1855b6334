"""The contract's words for the allocator's own: enums and times."""

from google.protobuf.timestamp_pb2 import Timestamp

from satchel.allocator.model import (
    MICROSECONDS_PER_SECOND,
    Boost,
    Factor,
    Form,
    Fusion,
    MemoryType,
    Outcome,
    StrategyName,
    ThresholdMethod,
)
from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.types.v1 import memory_pb2

TYPES = {
    memory_pb2.MEMORY_TYPE_DECISION: MemoryType.DECISION,
    memory_pb2.MEMORY_TYPE_FACT: MemoryType.FACT,
    memory_pb2.MEMORY_TYPE_PREFERENCE: MemoryType.PREFERENCE,
    memory_pb2.MEMORY_TYPE_SESSION_NOTE: MemoryType.SESSION_NOTE,
    memory_pb2.MEMORY_TYPE_DEBUG_LOG: MemoryType.DEBUG_LOG,
}
TYPE_NUMBERS = {kind: number for number, kind in TYPES.items()}
STRATEGIES = {
    pb.STRATEGY_CBA: StrategyName.CBA,
    pb.STRATEGY_KNAPSACK: StrategyName.KNAPSACK,
    pb.STRATEGY_TOP: StrategyName.TOP,
}
STRATEGY_NUMBERS = {name: number for number, name in STRATEGIES.items()}
FORMS = {
    pb.RENDER_MODE_HEADER: Form.HEADER,
    pb.RENDER_MODE_FINGERPRINT: Form.FINGERPRINT,
    pb.RENDER_MODE_VERBATIM: Form.VERBATIM,
    pb.RENDER_MODE_EXCERPT: Form.EXCERPT,
}
FORM_NUMBERS = {form: number for number, form in FORMS.items()}
THRESHOLD_METHODS = {
    pb.THRESHOLD_METHOD_IQR: ThresholdMethod.IQR,
    pb.THRESHOLD_METHOD_ELBOW: ThresholdMethod.ELBOW,
    pb.THRESHOLD_METHOD_MEAN_STDDEV: ThresholdMethod.MEAN_STDDEV,
    pb.THRESHOLD_METHOD_OFF: ThresholdMethod.OFF,
}
FUSIONS = {
    pb.FUSION_METHOD_RECIPROCAL_RANK: Fusion.RECIPROCAL_RANK,
    pb.FUSION_METHOD_STANDARD_SCORE: Fusion.STANDARD_SCORE,
}
FACTORS = {
    pb.FACTOR_DENSITY: Factor.DENSITY,
    pb.FACTOR_AGE: Factor.AGE,
    pb.FACTOR_OVERLAP: Factor.OVERLAP,
    pb.FACTOR_SESSION: Factor.SESSION,
    pb.FACTOR_CAUSAL: Factor.CAUSAL,
}
BOOSTS = {
    pb.BOOST_LATE_INTERACTION: Boost.LATE_INTERACTION,
    pb.BOOST_NEIGHBORS: Boost.NEIGHBORS,
    pb.BOOST_SESSION: Boost.SESSION,
    pb.BOOST_SPEAKER: Boost.SPEAKER,
    pb.BOOST_TIME: Boost.TIME,
    pb.BOOST_QUESTION: Boost.QUESTION,
}
OUTCOME_NUMBERS = {
    Outcome.CHOSEN: pb.OUTCOME_CHOSEN,
    Outcome.SHORTENED: pb.OUTCOME_SHORTENED,
    Outcome.COLLAPSED: pb.OUTCOME_COLLAPSED,
    Outcome.BELOW_THRESHOLD: pb.OUTCOME_BELOW_THRESHOLD,
    Outcome.UNAFFORDABLE: pb.OUTCOME_UNAFFORDABLE,
    Outcome.NO_GAIN: pb.OUTCOME_NO_GAIN,
}
PART_NUMBERS = {
    "embedder": pb.PART_EMBEDDER,
    "index": pb.PART_INDEX,
    "model": pb.PART_INDEX,
    "store": pb.PART_STORE,
    "lexical": pb.PART_LEXICAL,
}
INDEX_STATES = {
    index_pb.INDEX_STATE_LOADING: "loading",
    index_pb.INDEX_STATE_REBUILDING: "rebuilding",
    index_pb.INDEX_STATE_READY: "ready",
    index_pb.INDEX_STATE_DISCONNECTED: "disconnected",
}
INDEX_STATE_NUMBERS = {state: number for number, state in INDEX_STATES.items()}


def timestamp(time_us: int | None) -> Timestamp | None:
    """Return the contract's time."""
    if time_us is None:
        return None
    message = Timestamp()
    put_time(message, time_us)
    return message


def put_time(message: Timestamp, time_us: int | None) -> None:
    """Set a time of a message in place, which saves a copy; nothing is set where there is none."""
    if time_us is not None:
        message.SetInParent()
        message.seconds, rest = divmod(time_us, MICROSECONDS_PER_SECOND)
        message.nanos = rest * 1000


def microseconds(time: Timestamp) -> int:
    """Return a time in microseconds since 1970. Requests and the store's answers hold only valid ones."""
    return time.seconds * MICROSECONDS_PER_SECOND + time.nanos // 1000
