//! Steps that recall, search, allocate, embed and trace.

use std::collections::BTreeSet;

use satchel_client::api::allocator::v1::{AllocateRequest, Candidate, SearchMemoriesRequest, SearchResult};
use satchel_client::api::embedder::v1::{EmbedTextsRequest, TextRole};
use satchel_client::api::types::v1::SpanKind;
use satchel_client::{spans_of, tonic::Request, vectors};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::json::{items, memory_type, number, strategy, text, texts, time};
use crate::{Fault, Run};

impl Run {
    pub async fn recall(&mut self, step: &Value) -> Result<Value, Fault> {
        self.question = step["request"].clone();
        let question = self.question(&self.question)?;
        let budget = question.budget;
        let answer = self.satchel.recall(question).await?;
        let (content, stored) = self.stored.first().ok_or("nothing was stored")?;
        let first = answer.memories.first().ok_or("nothing was recalled")?;
        let receipt = answer.receipt.as_ref().ok_or("there is no receipt")?;
        Ok(json!({
            "first_mode": first.mode().as_str_name(),
            "first_is_stored": first.id == stored.id,
            "in_context": answer.context.contains(content),
            "within_budget": answer.total_tokens <= budget,
            "receipt_agrees": answer.total_tokens > 0 && answer.total_tokens == receipt.total_tokens,
            "encoding": receipt.encoding,
            "degraded": receipt.degraded().map(|part| part.as_str_name()).collect::<Vec<_>>(),
        }))
    }

    pub async fn search(&self, step: &Value) -> Result<Value, Fault> {
        let request = SearchMemoriesRequest {
            query: text(&step["request"], "query"),
            top_k: number(&step["request"], "top_k")?,
            types: items(&step["request"], "types").iter().map(memory_type).collect::<Result<_, _>>()?,
            tags: texts(&step["request"], "tags"),
            project: self.project.clone(),
            wing: self.wing.clone(),
            min_revision: self.revision,
            ..Default::default()
        };
        let answer = self.satchel.allocator().search_memories(request).await?.into_inner();
        let of_result = |result: &SearchResult| {
            let kind = result.r#type().as_str_name();
            json!({"content": result.content, "type": kind, "room": result.room})
        };
        Ok(answer.results.iter().map(of_result).collect())
    }

    pub async fn allocate(&self, step: &Value) -> Result<Value, Fault> {
        let request = AllocateRequest {
            candidates: items(&step["request"], "candidates").iter().map(candidate).collect::<Result<_, _>>()?,
            budget: number(&step["request"], "budget")?,
            strategy: strategy(&step["request"]["strategy"])?,
            ..Default::default()
        };
        let answer = self.satchel.allocator().allocate(request).await?.into_inner();
        let receipt = answer.receipt.ok_or("there is no receipt")?;
        Ok(json!({
            "context": answer.context,
            "ids": answer.memories.iter().map(|memory| &memory.id).collect::<Vec<_>>(),
            "total_tokens": answer.total_tokens,
            "collapsed_count": receipt.collapsed_count,
            "selected_count": receipt.selected_count,
        }))
    }

    pub async fn embed(&self, step: &Value) -> Result<Value, Fault> {
        let role = text(&step["request"], "role");
        let request = EmbedTextsRequest {
            texts: texts(&step["request"], "texts"),
            role: TextRole::from_str_name(&role).ok_or("the contract does not know the role")?.into(),
            ..Default::default()
        };
        let answer = self.satchel.embedder().embed_texts(request).await?.into_inner();
        let rows = vectors::unpack(&answer.vectors, usize::try_from(answer.dimension)?)?;
        let [first, second] = rows.as_slice() else { return Err("there are not two rows".into()) };
        Ok(json!({
            "count": answer.count,
            "dimension": answer.dimension,
            "byte_length": answer.vectors.len(),
            "norms": rows.iter().map(|row| rounded(dot(row, row).sqrt(), 4)).collect::<Vec<_>>(),
            "first": first.iter().take(3).map(|number| rounded((*number).into(), 2)).collect::<Vec<_>>(),
            "cosine": rounded(dot(first, second) / (dot(first, first) * dot(second, second)).sqrt(), 2),
            "passages": answer.spans.iter().map(|span| {
                json!({"text_index": span.text_index, "start": span.start, "end": span.end})
            }).collect::<Vec<_>>(),
        }))
    }

    pub async fn trace(&self) -> Result<Value, Fault> {
        let (trace_id, span_id) = (Uuid::new_v4(), Uuid::new_v4().as_u64_pair().1);
        let mut request = Request::new(self.question(&self.question)?);
        request.metadata_mut().insert("traceparent", format!("00-{}-{span_id:016x}-01", trace_id.simple()).parse()?);
        request.metadata_mut().insert("satchel-trace", "1".parse()?);
        let answer = self.satchel.allocator().recall(request).await?;
        let trace = spans_of(answer.metadata()).ok_or("no spans came back")?;
        let ours: Vec<_> = trace.spans.iter().filter(|span| span.parent_span_id == span_id.to_be_bytes()).collect();
        let servers = trace.spans.iter().filter(|span| span.kind() == SpanKind::Server);
        Ok(json!({
            "same_trace": trace.trace_id == trace_id.as_bytes(),
            "under_the_caller": ours.len(),
            "root": ours.first().map(|span| &span.name),
            "services": servers.filter_map(|span| span.name.split('/').next()).collect::<BTreeSet<_>>(),
        }))
    }
}

fn candidate(value: &Value) -> Result<Candidate, Fault> {
    let mut vector = [0.0; 4];
    *vector.get_mut(usize::try_from(number(value, "vector_axis")?)?).ok_or("there is no such axis")? = 1.0;
    Ok(Candidate {
        id: text(value, "id"),
        content: text(value, "content"),
        relevance: value["relevance"].as_f64().ok_or("relevance is no number")?,
        r#type: memory_type(&value["type"])?,
        occurred_at: time(value, "occurred_at")?,
        vector: vectors::pack(&vector),
        ..Default::default()
    })
}

fn dot(left: &[f32], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(left, right)| f64::from(*left) * f64::from(*right)).sum()
}

/// Writes a number with so many decimals, and zero without a sign.
fn rounded(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|digit| matches!(digit, '0' | '.')) => digits.to_owned(),
        _ => text,
    }
}
