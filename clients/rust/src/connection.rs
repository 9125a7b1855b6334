//! What every call of the generated clients goes through: address, metadata, deadline, repeats.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::stream::try_unfold;
use http_body_util::{BodyExt, Collected, Full, StreamBody};
use tokio::time::{Instant, sleep, timeout_at};
use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, HeaderValue, Request, Response, request::Parts};
use tonic::codegen::{BoxFuture, Bytes, Service};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, TimeoutExpired};

use crate::settings::Channels;

/// Greatest size of a message that the clients take, in bytes; the servers' own limit.
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

const TIMEOUT_HEADER: &str = "grpc-timeout";
/// The eight digits that gRPC allows, in milliseconds: 27 hours.
const LONGEST_TIMEOUT: Duration = Duration::from_millis(99_999_999);

const MAX_ATTEMPTS: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Mark of a call that may be sent again although the contract does not call it idempotent, such as a write with a
/// `request_id`. It goes into the extensions of the request.
///
/// ```
/// use satchel_client::{Repeatable, api::store::v1::StoreMemoryRequest, tonic::Request};
///
/// let mut request = Request::new(StoreMemoryRequest::default()); // with a `request_id`
/// request.extensions_mut().insert(Repeatable);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Repeatable;

/// An RPC as the contract describes it.
struct Method {
    path: &'static str,
    streaming: bool,
    idempotent: bool,
}

include!(concat!(env!("OUT_DIR"), "/methods.rs"));

const HEALTH_CHECK: Method = Method { path: "/grpc.health.v1.Health/Check", streaming: false, idempotent: true };

impl Method {
    fn find(path: &str) -> Option<&'static Self> {
        let place = METHODS.binary_search_by(|method| method.path.cmp(path));
        place.ok().map(|place| &METHODS[place]).or_else(|| (path == HEALTH_CHECK.path).then_some(&HEALTH_CHECK))
    }
}

/// The connection to Satchel, for generated clients of any contract; a clone is cheap and shares it.
///
/// [`Satchel`](crate::Satchel) makes the clients of its own contract; of another, such as `grpc.health.v1`, one is made
/// with `HealthClient::new(satchel.connection())`, and speaks to the store's address.
#[derive(Debug, Clone)]
pub struct Connection {
    channels: Arc<Channels>,
    timeout: Duration,
    metadata: HeaderMap,
}

impl Service<Request<Body>> for Connection {
    type Response = Response<Body>;
    type Error = Status;
    type Future = BoxFuture<Response<Body>, Status>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(())) // each attempt waits for its channel
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let connection = self.clone();
        Box::pin(async move { connection.send(request).await })
    }
}

impl Connection {
    pub(crate) fn new(channels: Channels, timeout: Duration, metadata: HeaderMap) -> Self {
        Self { channels: Arc::new(channels), timeout, metadata }
    }

    async fn send(&self, mut request: Request<Body>) -> Result<Response<Body>, Status> {
        let channel = self.channels.of(request.uri().path())?;
        for (name, value) in &self.metadata {
            request.headers_mut().entry(name).or_insert_with(|| value.clone());
        }
        match Method::find(request.uri().path()) {
            Some(method) if !method.streaming => {
                let repeatable = method.idempotent || request.extensions().get::<Repeatable>().is_some();
                self.unary(channel, request, if repeatable { MAX_ATTEMPTS } else { 1 }).await
            }
            _ => stream(channel, request).await,
        }
    }

    /// Sends a unary call, again while the server is unavailable, until the deadline at the latest.
    async fn unary(&self, channel: Channel, request: Request<Body>, attempts: u32) -> Result<Response<Body>, Status> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let deadline = Instant::now() + timeout_of(&head.headers).unwrap_or(self.timeout).min(LONGEST_TIMEOUT);
        let mut attempt = 1;
        loop {
            let answer = try_once(channel.clone(), head.clone(), body.clone(), deadline).await;
            let pause = pause_after(attempt);
            if attempt == attempts || !is_unavailable(&answer) || Instant::now() + pause >= deadline {
                return answer.map(|response| response.map(Body::new));
            }
            sleep(pause).await;
            attempt += 1;
        }
    }
}

/// Lets a connection notice within 10 seconds that nothing answers at its address, and within 40 that a server vanished
/// without a word.
pub(crate) fn prepare(endpoint: Endpoint) -> Endpoint {
    endpoint
        .connect_timeout(Duration::from_secs(10))
        .http2_keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(10))
}

/// Sends a call and reads all of its answer, trailers included, before the deadline.
async fn try_once(
    channel: Channel,
    mut head: Parts,
    body: Bytes,
    deadline: Instant,
) -> Result<Response<Collected<Bytes>>, Status> {
    head.headers.insert(TIMEOUT_HEADER, timeout_text(deadline - Instant::now()));
    let request = Request::from_parts(head, Body::new(Full::new(body)));
    let whole = async {
        let (head, body) = exchange(channel, request).await?.into_parts();
        Ok(Response::from_parts(head, body.collect().await.map_err(|broken| connection_failure(&broken))?))
    };
    timeout_at(deadline, whole).await.unwrap_or_else(|_| Err(deadline_passed()))
}

/// Sends a call whose answer is read as it comes; its deadline, if it has one, holds for all of the answer.
async fn stream(channel: Channel, request: Request<Body>) -> Result<Response<Body>, Status> {
    let deadline = timeout_of(request.headers()).and_then(|time| Instant::now().checked_add(time));
    let response = exchange(channel, request).await?;
    Ok(response.map(|body| {
        Body::new(StreamBody::new(try_unfold(body, move |mut body| async move {
            let frame = match deadline {
                Some(deadline) => timeout_at(deadline, body.frame()).await.map_err(|_| deadline_passed())?,
                None => body.frame().await,
            };
            let frame = frame.transpose().map_err(|broken| connection_failure(&broken))?;
            Ok::<_, Status>(frame.map(|frame| (frame, body)))
        })))
    }))
}

async fn exchange(mut channel: Channel, request: Request<Body>) -> Result<Response<Body>, Status> {
    poll_fn(|context| channel.poll_ready(context)).await.map_err(|broken| connection_failure(&broken))?;
    channel.call(request).await.map_err(|broken| connection_failure(&broken))
}

/// Returns the status of a connection that could not be made or broke. `tonic` gives it several codes (`UNKNOWN`,
/// `CANCELLED`); gRPC's other clients say `UNAVAILABLE`, and `DEADLINE_EXCEEDED` when time ran out.
fn connection_failure(error: &(dyn std::error::Error + 'static)) -> Status {
    let mut causes = Vec::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        if cause.is::<TimeoutExpired>() {
            return deadline_passed();
        }
        causes.push(cause.to_string());
        next = cause.source();
    }
    Status::unavailable(format!("Satchel does not answer: {}. Is it running?", causes.join(": ")))
}

fn deadline_passed() -> Status {
    Status::deadline_exceeded("The deadline passed before the answer came. Give the call more time.")
}

fn is_unavailable(answer: &Result<Response<Collected<Bytes>>, Status>) -> bool {
    let says_so =
        |headers: &HeaderMap| Status::from_header_map(headers).is_some_and(|status| status.code() == Code::Unavailable);
    match answer {
        Ok(response) => says_so(response.headers()) || response.body().trailers().is_some_and(says_so),
        Err(status) => status.code() == Code::Unavailable,
    }
}

/// Returns how long to wait after an attempt, counted from 1: anything up to a bound that grows threefold, so that
/// clients do not come back together.
fn pause_after(attempt: u32) -> Duration {
    (FIRST_PAUSE * 3_u32.pow(attempt - 1)).min(LONGEST_PAUSE).mul_f64(fastrand::f64())
}

/// Reads the header that `tonic::Request::set_timeout` writes.
fn timeout_of(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(TIMEOUT_HEADER)?.to_str().ok()?;
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let nanoseconds: u64 = match unit {
        "n" => 1,
        "u" => 1_000,
        "m" => 1_000_000,
        "S" => 1_000_000_000,
        "M" => 60_000_000_000,
        "H" => 3_600_000_000_000,
        _ => return None,
    };
    Some(Duration::from_nanos(number.parse::<u64>().ok()?.saturating_mul(nanoseconds)))
}

/// Writes a time up to the longest one, in microseconds where the eight digits hold them.
fn timeout_text(time: Duration) -> HeaderValue {
    let text = match time.as_micros() {
        short @ ..=99_999_999 => format!("{short}u"),
        _ => format!("{}m", time.as_millis()),
    };
    HeaderValue::try_from(text).expect("digits and a letter are a header value")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_read_as_it_was_written() {
        for time in [Duration::ZERO, Duration::from_micros(1_250), Duration::from_secs(10), LONGEST_TIMEOUT] {
            let headers = HeaderMap::from_iter([(TIMEOUT_HEADER.parse().unwrap(), timeout_text(time))]);
            assert_eq!(timeout_of(&headers), Some(time));
        }
    }

    #[test]
    fn a_timeout_of_another_form_is_left_alone() {
        for text in ["", "S", "10", "10x"] {
            let headers =
                HeaderMap::from_iter([(TIMEOUT_HEADER.parse().unwrap(), HeaderValue::from_str(text).unwrap())]);
            assert_eq!(timeout_of(&headers), None, "{text}");
        }
    }

    #[test]
    fn the_contract_says_what_may_be_repeated() {
        let rules = |path| Method::find(path).map(|method| (method.streaming, method.idempotent));

        assert_eq!(rules("/satchel.api.allocator.v1.AllocatorService/Recall"), Some((false, true)));
        assert_eq!(rules("/satchel.api.store.v1.MemoryService/StoreMemory"), Some((false, false)));
        assert_eq!(rules("/satchel.api.store.v1.ChangeService/WatchChanges"), Some((true, true)));
        assert_eq!(rules("/grpc.health.v1.Health/Check"), Some((false, true)));
        assert_eq!(rules("/grpc.health.v1.Health/Watch"), None);
    }

    #[test]
    fn pauses_are_bounded() {
        for attempt in 1..=MAX_ATTEMPTS {
            assert!(pause_after(attempt) <= LONGEST_PAUSE);
        }
        assert!(pause_after(1) <= FIRST_PAUSE);
    }
}
