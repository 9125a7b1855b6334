//! What every call promises, shown on a real socket whose other end answers as each test wants.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use h2::{Reason, server::SendResponse};
use prost::Message;
use satchel_client::api::allocator::v1::{RecallRequest, RecallResponse};
use satchel_client::api::store::v1::{StoreMemoryRequest, WatchChangesRequest};
use satchel_client::tonic::codegen::{Bytes, http};
use satchel_client::tonic::{Code, Request, metadata::MetadataMap};
use satchel_client::{InvalidSetting, Satchel};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;

/// How the server answers a call.
#[derive(Clone)]
enum Answer {
    /// With this code, as trailers only.
    Refuse(Code),
    /// With this message.
    Send(Vec<u8>),
    /// With headers, and then nothing while the call stays open.
    Wait,
    /// With headers, and with a reset once the test wants it.
    Break(Arc<Notify>),
}

/// A call as it came in: its headers and its bytes.
type Seen = (http::HeaderMap, Vec<u8>);

/// A server on a loopback port, and the calls that it saw.
struct Server {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Answers the first calls as listed, and all others as the last one.
    async fn open(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self { url: listener.local_addr().unwrap().to_string(), seen: Arc::default() };
        let seen = Arc::clone(&server.seen);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, answers.clone(), Arc::clone(&seen)));
            }
        });
        server
    }

    fn client(&self) -> Satchel {
        Satchel::builder().url(&self.url).api_key("sk_test").project("demo").build().unwrap()
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(socket: TcpStream, answers: Vec<Answer>, seen: Arc<Mutex<Vec<Seen>>>) {
    let mut connection = h2::server::handshake(socket).await.unwrap();
    while let Some(Ok((request, respond))) = connection.accept().await {
        let (answers, seen) = (answers.clone(), Arc::clone(&seen));
        tokio::spawn(async move {
            let (head, mut body) = request.into_parts();
            let mut bytes = Vec::new();
            while let Some(Ok(part)) = body.data().await {
                bytes.extend_from_slice(&part);
            }
            let place = {
                let mut seen = seen.lock().unwrap();
                seen.push((head.headers, bytes));
                seen.len().min(answers.len()) - 1
            };
            answer(respond, &answers[place]).await;
        });
    }
}

async fn answer(mut respond: SendResponse<Bytes>, answer: &Answer) {
    let head = http::Response::builder().header("content-type", "application/grpc");
    match answer {
        Answer::Refuse(code) => {
            let head = head.header("grpc-status", i32::from(*code)).body(()).unwrap();
            respond.send_response(head, true).unwrap();
        }
        Answer::Send(message) => {
            let mut body = respond.send_response(head.body(()).unwrap(), false).unwrap();
            let length = u32::try_from(message.len()).unwrap().to_be_bytes();
            body.send_data([&[0], length.as_slice(), message].concat().into(), false).unwrap();
            body.send_trailers(http::HeaderMap::from_iter([("grpc-status".parse().unwrap(), 0.into())])).unwrap();
        }
        Answer::Wait => {
            let mut body = respond.send_response(head.body(()).unwrap(), false).unwrap();
            poll_fn(|context| body.poll_reset(context)).await.map(drop).unwrap();
        }
        Answer::Break(wanted) => {
            let mut body = respond.send_response(head.body(()).unwrap(), false).unwrap();
            wanted.notified().await;
            body.send_reset(Reason::INTERNAL_ERROR);
        }
    }
}

#[tokio::test]
async fn a_call_that_may_be_repeated_is_sent_again_while_the_server_is_unavailable() {
    let refusal = Answer::Refuse(Code::Unavailable);
    let server = Server::open(vec![refusal.clone(), refusal, Answer::Send(Vec::new())]).await;

    server.client().recall(RecallRequest::default()).await.unwrap();

    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn after_three_attempts_the_error_is_told() {
    let server = Server::open(vec![Answer::Refuse(Code::Unavailable)]).await;

    let error = server.client().recall(RecallRequest::default()).await.unwrap_err();

    assert_eq!((error.code(), server.seen().len()), (Code::Unavailable, 3));
}

#[tokio::test]
async fn a_write_is_not_sent_again() {
    let server = Server::open(vec![Answer::Refuse(Code::Unavailable)]).await;

    let status = server.client().memories().store_memory(StoreMemoryRequest::default()).await.unwrap_err();

    assert_eq!((status.code(), server.seen().len()), (Code::Unavailable, 1));
}

#[tokio::test]
async fn a_write_with_a_request_id_is_sent_again_with_the_same_one() {
    let server = Server::open(vec![Answer::Refuse(Code::Unavailable), Answer::Send(Vec::new())]).await;

    server.client().remember(StoreMemoryRequest::default()).await.unwrap();

    let seen = server.seen();
    let sent = StoreMemoryRequest::decode(&seen[0].1[5..]).unwrap();
    assert_eq!(sent.request_id.len(), 36);
    assert_eq!(seen[0].1, seen[1].1);
}

#[tokio::test]
async fn no_other_error_is_repeated() {
    for code in [Code::Internal, Code::ResourceExhausted, Code::Aborted, Code::DeadlineExceeded] {
        let server = Server::open(vec![Answer::Refuse(code)]).await;

        let error = server.client().recall(RecallRequest::default()).await.unwrap_err();

        assert_eq!((error.code(), server.seen().len()), (code, 1));
    }
}

#[tokio::test]
async fn every_call_carries_key_and_project_and_unary_ones_a_deadline() {
    let server = Server::open(vec![Answer::Send(Vec::new())]).await;

    server.client().recall(RecallRequest::default()).await.unwrap();
    server.client().changes().watch_changes(WatchChangesRequest::default()).await.unwrap();

    let [(unary, _), (stream, _)] = server.seen().try_into().unwrap();
    for headers in [&unary, &stream] {
        assert_eq!([&headers["authorization"], &headers["satchel-project"]], ["Bearer sk_test", "demo"]);
    }
    let left = unary["grpc-timeout"].to_str().unwrap().strip_suffix('u').unwrap().parse::<u32>().unwrap();
    assert!((1..=10_000_000).contains(&left), "{left} microseconds");
    assert!(!stream.contains_key("grpc-timeout"));
}

#[tokio::test]
async fn a_call_without_an_answer_ends_at_its_own_deadline() {
    let server = Server::open(vec![Answer::Wait]).await;
    let mut request = Request::new(RecallRequest::default());
    request.set_timeout(Duration::from_millis(20));

    let mut allocator = server.client().allocator();
    let answer = within_limit(allocator.recall(request)).await;

    assert_eq!(answer.unwrap_err().code(), Code::DeadlineExceeded);
}

#[tokio::test]
async fn a_stream_without_an_end_ends_at_its_own_deadline() {
    let server = Server::open(vec![Answer::Wait]).await;
    let mut request = Request::new(WatchChangesRequest::default());
    request.set_timeout(Duration::from_secs(1));

    let mut feed = server.client().changes().watch_changes(request).await.unwrap().into_inner();
    let status = within_limit(feed.message()).await.unwrap_err();

    assert_eq!(status.code(), Code::DeadlineExceeded);
}

#[tokio::test]
async fn a_stream_that_breaks_is_unavailable() {
    let wanted = Arc::new(Notify::new());
    let server = Server::open(vec![Answer::Break(Arc::clone(&wanted))]).await;

    let mut feed = server.client().changes().watch_changes(WatchChangesRequest::default()).await.unwrap().into_inner();
    wanted.notify_one();
    let status = within_limit(feed.message()).await.unwrap_err();

    assert_eq!(status.code(), Code::Unavailable);
}

/// Gives up on what should have ended by itself.
async fn within_limit<T>(call: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(10), call).await.expect("it still goes on")
}

#[tokio::test]
async fn a_key_that_cannot_be_sent_is_refused_and_a_good_one_not_shown() {
    let refused = Satchel::builder().api_key("sk_secret\n").build().unwrap_err();
    let shown = format!("{:?} {refused:?} {refused}", Satchel::builder().api_key("sk_secret"));

    assert_eq!(refused, InvalidSetting::ApiKey);
    assert!(!shown.contains("sk_secret"), "{shown}");
}

#[tokio::test]
async fn a_project_of_any_alphabet_goes_beside_the_request() {
    let server = Server::open(vec![Answer::Send(Vec::new())]).await;
    let satchel = Satchel::builder().url(&server.url).project("Bäckerei").build().unwrap();

    satchel.recall(RecallRequest::default()).await.unwrap();

    let metadata = MetadataMap::from_headers(server.seen().remove(0).0);
    assert_eq!(metadata.get_bin("satchel-project-bin").unwrap().to_bytes().unwrap(), "Bäckerei");
    assert!(metadata.get("satchel-project").is_none());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = listener.local_addr().unwrap().to_string();
    drop(listener);
    let satchel = Satchel::builder().url(url).build().unwrap();

    let error = tokio::spawn(async move { satchel.recall(RecallRequest::default()).await }).await.unwrap().unwrap_err();

    assert_eq!(error.code(), Code::Unavailable);
    assert!(error.message().ends_with("Is it running?"), "{error}");
}

#[tokio::test]
async fn a_message_may_be_larger_than_the_default_of_tonic() {
    let context = String::from_utf8(vec![b'a'; 9 << 20]).unwrap();
    let message = RecallResponse { context: context.clone(), ..Default::default() }.encode_to_vec();
    let server = Server::open(vec![Answer::Send(message)]).await;

    let answer = server.client().recall(RecallRequest::default()).await.unwrap();

    assert!(answer.context == context, "the text of 9 MiB came back changed");
}
