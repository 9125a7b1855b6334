//! The entry point.

use std::env;
use std::time::Duration;

use futures_util::{Stream, stream};
use tonic::Request;
use tonic::metadata::{Ascii, MetadataMap, MetadataValue};
use uuid::Uuid;

use crate::api::allocator::v1::{RecallRequest, RecallResponse, allocator_service_client::AllocatorServiceClient};
use crate::api::embedder::v1::embedder_service_client::EmbedderServiceClient;
use crate::api::index::v1::index_service_client::IndexServiceClient;
use crate::api::store::v1::{
    ListMemoriesRequest, ListMemoriesResponse, StoreMemoryRequest, StoreMemoryResponse,
    change_service_client::ChangeServiceClient, memory_service_client::MemoryServiceClient,
    search_service_client::SearchServiceClient,
};
use crate::connection::{Connection, MAX_MESSAGE_BYTES, Repeatable};
use crate::error::Error;
use crate::settings::{Channels, InvalidSetting};

const DEFAULT_URL: &str = "127.0.0.1:50051";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Settings of a connection; [`Satchel::builder`] makes them.
#[derive(Debug, Clone)]
#[must_use]
pub struct Builder {
    url: String,
    project: String,
    timeout: Duration,
    authorization: Option<Result<MetadataValue<Ascii>, InvalidSetting>>,
}

impl Builder {
    /// Sets where Satchel is: `HOST:PORT`, or an address for each service,
    /// `embedder=HOST:PORT,store=HOST:PORT,index=HOST:PORT,allocator=HOST:PORT`. The default is the environment's
    /// `SATCHEL_URL`, else `127.0.0.1:50051`. The connection is in the clear, for loopback and private networks.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// Sets the project in which every call works, unless its request names another. It goes beside each request.
    /// Without one it is the project `default`, or every project where the contract says so.
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = project.into();
        self
    }

    /// Sets the API key, which every call sends as `authorization: Bearer KEY`.
    pub fn api_key(mut self, key: &str) -> Self {
        let value = metadata_value(&format!("Bearer {key}")).ok_or(InvalidSetting::ApiKey);
        self.authorization = Some(value.map(|mut value| {
            value.set_sensitive(true); // not shown where headers are logged
            value
        }));
        self
    }

    /// Sets how long a unary call may take, repeats included; 10 seconds unless set. `Request::set_timeout` sets it for
    /// one call.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Makes the client. It connects at the first call, and again whenever the connection is lost.
    ///
    /// # Errors
    ///
    /// [`InvalidSetting`] when the URL has neither of its forms, or the key cannot be sent.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn build(self) -> Result<Satchel, InvalidSetting> {
        let channels = Channels::open(&self.url)?;
        let mut metadata = MetadataMap::new();
        if let Some(key) = self.authorization {
            metadata.insert("authorization", key?);
        }
        if !self.project.is_empty() {
            name_project(&mut metadata, &self.project);
        }
        Ok(Satchel { connection: Connection::new(channels, self.timeout, metadata.into_headers()) })
    }
}

/// Puts the project beside a request: as it is when it is printable ASCII, as gRPC wants it, and else in UTF-8.
fn name_project(metadata: &mut MetadataMap, project: &str) {
    match metadata_value(project) {
        Some(value) => drop(metadata.insert("satchel-project", value)),
        None => drop(metadata.insert_bin("satchel-project-bin", MetadataValue::from_bytes(project.as_bytes()))),
    }
}

fn metadata_value(text: &str) -> Option<MetadataValue<Ascii>> {
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    printable.then(|| text.parse().ok()).flatten()
}

/// A Satchel to remember with. A clone is cheap and shares the connection.
#[derive(Debug, Clone)]
pub struct Satchel {
    connection: Connection,
}

impl Satchel {
    /// Begins the settings of a connection.
    pub fn builder() -> Builder {
        let url = env::var("SATCHEL_URL").unwrap_or_else(|_| DEFAULT_URL.into());
        Builder { url, project: String::new(), timeout: DEFAULT_TIMEOUT, authorization: None }
    }

    /// Stores a memory; its wing and content are required.
    ///
    /// It gets a fresh `request_id` unless it has its own, so it is stored once even when the answer was lost and the
    /// call is sent again.
    ///
    /// # Errors
    ///
    /// As the contract lists for `StoreMemory`.
    pub async fn remember(&self, mut memory: StoreMemoryRequest) -> Result<StoreMemoryResponse, Error> {
        if memory.request_id.is_empty() {
            memory.request_id = Uuid::new_v4().to_string();
        }
        let mut request = Request::new(memory);
        request.extensions_mut().insert(Repeatable);
        Ok(self.memories().store_memory(request).await?.into_inner())
    }

    /// Recalls what answers a question within a budget of tokens.
    ///
    /// # Errors
    ///
    /// As the contract lists for `Recall`.
    pub async fn recall(&self, question: RecallRequest) -> Result<RecallResponse, Error> {
        Ok(self.allocator().recall(question).await?.into_inner())
    }

    /// Lists memories, newest first, page by page to the end; `page_size` is that of the request.
    ///
    /// ```no_run
    /// use satchel_client::{Error, Satchel, TryStreamExt, api::store::v1::ListMemoriesRequest};
    ///
    /// # async fn print_all(satchel: Satchel) -> Result<(), Error> {
    /// let mut pages = satchel.pages(ListMemoriesRequest { wing: "billing".into(), ..Default::default() });
    /// while let Some(page) = pages.try_next().await? {
    ///     page.memories.iter().for_each(|memory| println!("{}", memory.content));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn pages(
        &self,
        request: ListMemoriesRequest,
    ) -> impl Stream<Item = Result<ListMemoriesResponse, Error>> + Send + Unpin + use<> {
        let memories = self.memories();
        Box::pin(stream::try_unfold(Some(request), move |next| {
            let mut memories = memories.clone();
            async move {
                let Some(mut request) = next else { return Ok(None) };
                let page = memories.list_memories(request.clone()).await?.into_inner();
                request.page_token.clone_from(&page.next_page_token);
                let next = (!request.page_token.is_empty()).then_some(request);
                Ok(Some((page, next)))
            }
        }))
    }

    /// Client of the memories: store, read, change, delete, import, export.
    #[must_use]
    pub fn memories(&self) -> MemoryServiceClient<Connection> {
        MemoryServiceClient::new(self.connection()).max_decoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Client of the store's own searches, by words and by vectors.
    #[must_use]
    pub fn searches(&self) -> SearchServiceClient<Connection> {
        SearchServiceClient::new(self.connection()).max_decoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Client of the change feed.
    #[must_use]
    pub fn changes(&self) -> ChangeServiceClient<Connection> {
        ChangeServiceClient::new(self.connection()).max_decoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Client of the allocator: recall, search, allocate, status.
    #[must_use]
    pub fn allocator(&self) -> AllocatorServiceClient<Connection> {
        AllocatorServiceClient::new(self.connection()).max_decoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Client of the embedder: texts to vectors.
    #[must_use]
    pub fn embedder(&self) -> EmbedderServiceClient<Connection> {
        EmbedderServiceClient::new(self.connection()).max_decoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Client of the index.
    #[must_use]
    pub fn index(&self) -> IndexServiceClient<Connection> {
        IndexServiceClient::new(self.connection()).max_decoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// The connection itself, for clients of other contracts.
    #[must_use]
    pub fn connection(&self) -> Connection {
        self.connection.clone()
    }
}
