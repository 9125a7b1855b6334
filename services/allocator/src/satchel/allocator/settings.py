"""What can be set about the allocator; variables ``SATCHEL_ALLOCATOR_<FIELD>``. Pure: reads nothing."""

from dataclasses import dataclass

from satchel.allocator.model import Fusion, MemoryType, StrategyName, ThresholdMethod
from satchel.allocator.neighbors import Shares
from satchel.allocator.tuning import BoostWeights, FactorConstants, FormWorth, Tuning
from satchel.runtime.settings import setting

PREFIX = "SATCHEL_ALLOCATOR"


@dataclass(frozen=True, slots=True)
class AllocatorSettings:
    """Settings of one allocator. Defaults are what measured best, or what CBA publishes (docs/recall.md)."""

    listen: str = setting("127.0.0.1:50064", "Address that the process of its own listens on.")
    embedder: str = setting("127.0.0.1:50061", "Address of the embedder.")
    index: str = setting("127.0.0.1:50062", "Address of the index.")
    store: str = setting("127.0.0.1:50063", "Address of the store.")
    peer_timeout_s: float = setting(
        10.0, "Seconds that one call of another service may take.", minimum=0.01, maximum=600
    )
    status_timeout_s: float = setting(
        1.0, "Seconds that a part may take to report its status.", minimum=0.01, maximum=60
    )
    default_budget: int = setting(4000, "Tokens of a recall that names no budget.", minimum=1, maximum=100000)
    default_top_k: int = setting(10, "Results of a search that names no number.", minimum=1, maximum=1000)
    strategy: StrategyName = setting(
        StrategyName.KNAPSACK, "Strategy of a recall that names none."
    )  # a declaration
    dense_depth: int = setting(100, "Memories asked of the index.", minimum=1, maximum=1000)
    lexical: bool = setting(
        True,  # noqa: FBT003  # a default
        "Whether words are searched too; without, they are only where the embedder does not answer.",
    )
    lexical_depth: int = setting(100, "Memories asked of the search by words.", minimum=1, maximum=1000)
    max_candidates: int = setting(
        60, "Memories fetched for a small budget, neighbours not counted.", minimum=1, maximum=1000
    )
    tokens_per_candidate: int = setting(
        20, "A budget of more than this many tokens a candidate fetches more.", minimum=1, maximum=100000
    )
    most_candidates: int = setting(
        250,
        "Memories fetched at most where texts are short, neighbours not counted.",
        minimum=1,
        maximum=1000,
    )
    candidate_tokens: float = setting(
        1.5, "Tokens of the texts fetched, in budgets, below which more are fetched.", minimum=0, maximum=100
    )
    tokens_per_hit: int = setting(
        16, "A budget of more than this many tokens a hit searches deeper.", minimum=1, maximum=100000
    )
    neighbor_count: int = setting(
        2, "Memories fetched before and after each candidate of a session.", minimum=0, maximum=5
    )
    neighbors_of_first: int = setting(
        30,
        "Candidates whose neighbours are fetched, the most promising first; 0 for all.",
        minimum=0,
        maximum=1000,
    )
    neighbors_not_of_last: int = setting(
        50,
        "Candidates, the least promising, whose neighbours are not fetched where many are fetched.",
        minimum=0,
        maximum=1000,
    )
    fusion: Fusion = setting(
        Fusion.STANDARD_SCORE, "How the rankings by meaning and words are joined."
    )  # a declaration
    rrf_k: int = setting(60, "Constant k of reciprocal rank fusion.", minimum=1, maximum=1000)
    lexical_weight: float = setting(
        1.0, "Weight of words against meaning, at the same spread.", minimum=0, maximum=100
    )
    tag_bonus: float = setting(
        0.05, "What a query word that is a tag adds, in units of cosine.", minimum=0, maximum=1
    )
    expansion: bool = setting(False, "Whether the mean of the query's variants is searched.")  # noqa: FBT003
    expansion_variants: int = setting(
        3, "Variants beside the query itself, at most; there are two different ones.", minimum=1, maximum=10
    )
    previous_share: float = setting(
        0.45, "Share of the distance to a better previous memory of its session.", minimum=0, maximum=1
    )
    next_share: float = setting(
        0.15, "Share of the distance to a better next memory of its session.", minimum=0, maximum=1
    )
    second_previous_share: float = setting(
        0.3, "Share of the distance to a better memory two before in its session.", minimum=0, maximum=1
    )
    second_next_share: float = setting(
        0.1, "Share of the distance to a better memory two after in its session.", minimum=0, maximum=1
    )
    late_weight: float = setting(
        1.7, "Weight of comparing token by token; 0 for never.", minimum=0, maximum=100
    )
    late_fused_share: float = setting(
        0.35, "Share of the fused score that stays where tokens are compared.", minimum=0, maximum=1
    )
    session_weight: float = setting(
        0.35, "Weight of what else was found in a memory's session.", minimum=0, maximum=100
    )
    speaker_weight: float = setting(
        1.8, "What a memory gains whose speaker the question names, in spreads.", minimum=0, maximum=100
    )
    time_weight: float = setting(
        1.4, "What a memory gains that tells a time where one is asked, in spreads.", minimum=0, maximum=100
    )
    question_weight: float = setting(
        0.8, "What a memory loses that ends in a question, in spreads.", minimum=0, maximum=100
    )
    duplicate_similarity: float = setting(
        0.88, "Cosine from which two memories count as the same; 1 for never.", minimum=0.5, maximum=1
    )
    threshold_method: ThresholdMethod | None = setting(  # the same
        None, "How the threshold is found. Empty: iqr for cba, the floor alone for the other strategies."
    )
    threshold_floor: float = setting(0.15, "Least threshold.", minimum=0, maximum=1)
    threshold_ceiling: float = setting(0.75, "Greatest threshold.", minimum=0, maximum=1)
    always_kept: int = setting(
        10,
        "Best memories that stay however little they bear on the question, where no threshold is named.",
        minimum=0,
        maximum=1000,
    )
    density_slope: float = setting(2.0, "Slope k of the density factor.", minimum=0, maximum=100)
    density_middle: float = setting(0.3, "Middle mu of the density factor.", minimum=0, maximum=100)
    session_bonus: float = setting(1.2, "Factor of a memory near in time to a chosen one.", minimum=1)
    session_window_s: float = setting(7200.0, "Seconds that count as near in time.", minimum=0)
    causal_rate: float = setting(0.15, "Rate alpha of the causal factor.", minimum=0, maximum=100)
    decay_decision: float = setting(0.001, "Rate per day at which decisions age.", minimum=0, maximum=100)
    decay_fact: float = setting(0.005, "Rate per day at which facts age.", minimum=0, maximum=100)
    decay_preference: float = setting(0.01, "Rate per day at which preferences age.", minimum=0, maximum=100)
    decay_session_note: float = setting(
        0.1, "Rate per day at which session notes age.", minimum=0, maximum=100
    )
    decay_debug_log: float = setting(0.5, "Rate per day at which debug logs age.", minimum=0, maximum=100)
    excerpt_worth: float = setting(0.8, "Worth of an excerpt, the whole text being 1.", minimum=0, maximum=1)
    fingerprint_worth: float = setting(0.35, "Worth of a fingerprint.", minimum=0, maximum=1)
    header_worth: float = setting(0.05, "Worth of a header.", minimum=0, maximum=1)
    slot_share: float = setting(
        0.25, "Share of the budget added to each price when forms are compared.", minimum=0, maximum=1
    )
    resolve_dates: bool = setting(
        True,  # noqa: FBT003  # a default
        "Whether relative times are resolved below a text where the question asks when.",
    )
    counted_blocks: int = setting(20000, "Token counts that are kept.", minimum=0, maximum=10_000_000)
    inline_code_points: int = setting(
        20_000, "Code points to count the tokens of up to which no thread is used.", minimum=0
    )
    inline_candidates: int = setting(
        300, "Memories to rank or collapse up to which no thread is used.", minimum=0
    )
    workers: int = setting(2, "Threads for large rankings and allocations.", minimum=1, maximum=64)
    worker_queue: int = setting(64, "Large allocations that may wait; beyond, calls are refused.", minimum=0)

    def __post_init__(self) -> None:
        """Refuse bounds that exclude each other."""
        if self.threshold_floor > self.threshold_ceiling:
            raise ValueError(
                f"threshold_floor ({self.threshold_floor:g}) is greater than threshold_ceiling "
                f"({self.threshold_ceiling:g}). Lower the one or raise the other."
            )

    @property
    def tuning(self) -> Tuning:
        """The constants of the pure pipeline."""
        return Tuning(
            fusion=self.fusion,
            rrf_k=self.rrf_k,
            lexical_weight=self.lexical_weight,
            tag_bonus=self.tag_bonus,
            expansion=self.expansion,
            expansion_variants=self.expansion_variants,
            boosts=BoostWeights(
                late=self.late_weight,
                fused_share=self.late_fused_share,
                shares=Shares(
                    self.previous_share, self.next_share, self.second_previous_share, self.second_next_share
                ),
                session=self.session_weight,
                speaker=self.speaker_weight,
                time=self.time_weight,
                question=self.question_weight,
            ),
            duplicate_similarity=self.duplicate_similarity,
            threshold_method=self.threshold_method,
            threshold_floor=self.threshold_floor,
            threshold_ceiling=self.threshold_ceiling,
            always_kept=self.always_kept,
            resolve_dates=self.resolve_dates,
            factors=FactorConstants(
                density_slope=self.density_slope,
                density_middle=self.density_middle,
                session_bonus=self.session_bonus,
                session_window_s=self.session_window_s,
                causal_rate=self.causal_rate,
                age_rates={kind: getattr(self, f"decay_{kind.value}") for kind in MemoryType},
            ),
            worth=FormWorth(
                excerpt=self.excerpt_worth,
                fingerprint=self.fingerprint_worth,
                header=self.header_worth,
                slot_share=self.slot_share,
            ),
        )
