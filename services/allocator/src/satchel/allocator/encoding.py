"""The allocator's answers into messages of the contract."""

from typing import TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from satchel.allocator.ports import SystemState
from satchel.allocator.results import Allocation, Explanation, Receipt, Shown
from satchel.allocator.searching import Found, Result
from satchel.allocator.vocabulary import (
    FORM_NUMBERS,
    INDEX_STATE_NUMBERS,
    OUTCOME_NUMBERS,
    PART_NUMBERS,
    STRATEGY_NUMBERS,
    TYPE_NUMBERS,
    put_time,
    timestamp,
)
from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2
from satchel.api.types.v1 import model_pb2

_ENCODING = "cl100k_base"
_PERCENT = 100.0

Answer = TypeVar("Answer", pb.RecallResponse, pb.AllocateResponse)


def recall_response(allocation: Allocation, now_us: int | None) -> pb.RecallResponse:
    """Encode the answer to a recall."""
    return _filled(pb.RecallResponse(), allocation, now_us)


def allocate_response(allocation: Allocation, now_us: int | None) -> pb.AllocateResponse:
    """Encode the answer to an allocation."""
    return _filled(pb.AllocateResponse(), allocation, now_us)


def _filled(response: Answer, allocation: Allocation, now_us: int | None) -> Answer:
    """Return the answer, in place: the two messages have the same fields."""
    receipt, selected_at = allocation.receipt, timestamp(now_us)
    response.context = allocation.context
    response.memories.extend(recalled_memory(one, selected_at) for one in allocation.shown)
    response.total_tokens = receipt.total_tokens
    response.budget_used = _PERCENT * receipt.total_tokens / receipt.budget
    response.receipt.CopyFrom(receipt_message(receipt))
    response.explanations.extend(explanation_message(one) for one in allocation.explanations)
    return response


def recalled_memory(shown: Shown, selected_at: Timestamp | None) -> pb.RecalledMemory:
    """Encode one memory of the context."""
    choice = shown.choice
    candidate = choice.item.candidate
    message = pb.RecalledMemory(
        id=candidate.id,
        candidate_id=candidate.id,
        verbatim_id=candidate.id,
        mode=FORM_NUMBERS[choice.form],
        token_cost=choice.tokens,
        rendered=shown.rendered,
        selected_at=selected_at,
        score=choice.score,
        type=TYPE_NUMBERS[candidate.type],
        wing=candidate.wing,
        room=candidate.room,
        session_id=candidate.session_id,
        similarity=choice.item.signals.similarity,
    )
    # In place, which saves a message and its copy.
    put_time(message.occurred_at, candidate.occurred_us)
    put_time(message.created_at, candidate.created_us)
    return message


def receipt_message(receipt: Receipt) -> pb.Receipt:
    """Encode the receipt."""
    return pb.Receipt(
        budget=receipt.budget,
        total_tokens=receipt.total_tokens,
        framing_tokens=receipt.framing_tokens,
        encoding=_ENCODING,
        strategy=STRATEGY_NUMBERS[receipt.strategy],
        candidate_count=receipt.candidate_count,
        collapsed_count=receipt.collapsed_count,
        below_threshold_count=receipt.below_threshold_count,
        unaffordable_count=receipt.unaffordable_count,
        no_gain_count=receipt.no_gain_count,
        selected_count=receipt.selected_count,
        threshold=receipt.threshold,
        fallback_wing=receipt.fallback_wing,
        degraded=[PART_NUMBERS[part] for part in receipt.degraded],
        revision=receipt.revision,
        model_sha256=receipt.model_sha256,
        notes=receipt.notes,
    )


def explanation_message(one: Explanation) -> pb.CandidateExplanation:
    """Encode why a candidate was chosen or left out."""
    signals, factors = one.item.signals, one.factors
    return pb.CandidateExplanation(
        id=one.item.candidate.id,
        outcome=OUTCOME_NUMBERS[one.outcome],
        reason=one.reason,
        dense_rank=signals.dense_rank,
        lexical_rank=signals.lexical_rank,
        tag_matches=signals.tag_matches,
        similarity=signals.similarity,
        lexical_score=signals.lexical_score,
        fused_score=signals.fused_score,
        late_boost=signals.late_boost,
        neighbor_boost=signals.neighbor_boost,
        session_boost=signals.session_boost,
        speaker_boost=signals.speaker_boost,
        time_boost=signals.time_boost,
        question_boost=signals.question_boost,
        relevance=one.item.relevance,
        density=factors.density,
        age=factors.age,
        overlap=factors.overlap,
        session=factors.session,
        causal=factors.causal,
        score=one.score,
        mode=pb.RENDER_MODE_UNSPECIFIED if one.form is None else FORM_NUMBERS[one.form],
        token_cost=one.token_cost,
        collapsed_into=one.collapsed_into,
    )


def search_response(found: Found, max_content_length: int) -> pb.SearchMemoriesResponse:
    """Encode search results, their texts cut to ``max_content_length`` code points (0: whole)."""
    return pb.SearchMemoriesResponse(
        results=[search_result(one, max_content_length) for one in found.results],
        degraded=[PART_NUMBERS[part] for part in found.degraded],
        revision=found.revision,
    )


def search_result(result: Result, max_content_length: int) -> pb.SearchResult:
    """Encode one result."""
    candidate = result.candidate
    text = candidate.text[:max_content_length] if max_content_length else candidate.text
    return pb.SearchResult(
        id=candidate.id,
        content=text,
        similarity=result.similarity,
        score=result.score,
        type=TYPE_NUMBERS[candidate.type],
        wing=candidate.wing,
        room=candidate.room,
        session_id=candidate.session_id,
        occurred_at=timestamp(candidate.occurred_us),
        created_at=timestamp(candidate.created_us),
        token_count=candidate.verbatim_tokens or 0,
        truncated=len(text) < len(candidate.text),
    )


def status_response(state: SystemState, *, version: str, uptime_s: float) -> pb.GetStatusResponse:
    """Encode the state of all parts; what a silent part would have said is absent or 0."""
    response = pb.GetStatusResponse(
        models=[model.name for model in state.models],
        version=version,
        uptime=uptime_s,
        parts=[
            pb.PartStatus(name=PART_NUMBERS[one.name], healthy=one.healthy, detail=one.detail)
            for one in state.parts
        ],
        model_identities=[
            model_pb2.ModelIdentity(
                name=one.name,
                revision=one.revision,
                sha256=one.sha256,
                dimension=one.dimension,
                max_tokens=one.max_tokens,
            )
            for one in state.models
        ],
    )
    if state.store is not None:
        _put_store(response, state)
    if state.index is not None:
        response.index.CopyFrom(
            pb.IndexSummary(
                state=INDEX_STATE_NUMBERS[state.index.state],
                applied_revision=state.index.applied_revision,
                lag=state.index.lag,
                passage_count=state.index.passage_count,
            )
        )
    return response


def _put_store(response: pb.GetStatusResponse, state: SystemState) -> None:
    assert state.store is not None  # noqa: S101  # checked by the caller; tells the type checker
    counts = state.store.counts
    response.stats.CopyFrom(
        memory_service_pb2.StoreStats(
            verbatim_count=counts.verbatim_count,
            fingerprint_count=counts.fingerprint_count,
            embedding_count=counts.embedding_count,
            causal_node_count=counts.causal_node_count,
            causal_edge_count=counts.causal_edge_count,
            total_tokens=counts.total_tokens,
            type_counts=counts.type_counts,
            active_wings=counts.active_wings,
            archived_count=counts.archived_count,
            pending_embedding_count=counts.pending_embedding_count,
            pending_enrichment_count=counts.pending_enrichment_count,
        )
    )
    response.revision = state.store.head_revision
    response.database_bytes = state.store.database_bytes
