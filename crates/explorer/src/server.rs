//! The page, served on the loopback interface, with a checker behind it.
use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    extract::{RawQuery, Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use doorway_checker::{Observer, Progress};
use serde_json::{Value, json};
use tokio::{runtime, sync::Semaphore, task};

use crate::{Scenario, curves, execution, found, page, report};

/// The states of a check for which a page does not ask for more.
const DEFAULT_STATES: u64 = 200_000;
/// The most states of a check for a page.
const MAX_STATES: u64 = 5_000_000;
/// The longest time that a check for a page takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that listens and does not answer yet.
///
/// See [`serve`].
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

/// Listens on the loopback interface, on this port or, if it is 0, on a free one.
///
/// ```
/// let server = doorway_explorer::serve(0)?;
/// assert!(server.address().ip().is_loopback());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the port is in use, or cannot be listened on.
pub fn serve(port: u16) -> io::Result<Server> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok(Server { listener, address })
}

impl Server {
    /// The address that it listens on.
    ///
    /// See the [example of `serve`](serve).
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until the process ends.
    ///
    /// # Errors
    /// If the system does not let it listen.
    pub fn run(self) -> io::Result<()> {
        let state = Arc::new(Shared { address: self.address, checks: Semaphore::new(1) });
        let routes = Router::new()
            .route("/", get(|| async { typed("text/html; charset=utf-8", page::served()) }))
            .route("/page.js", get(|| async { typed("text/javascript; charset=utf-8", page::SCRIPT) }))
            .route("/page.css", get(|| async { typed("text/css; charset=utf-8", page::STYLE) }))
            .route("/api/report", get(|| async { reply(Ok(report::unsurveyed())) }))
            .route("/api/execution", get(answer_execution))
            .route("/api/found", get(answer_found))
            .route("/api/curves", get(answer_curves))
            .fallback(|| async { (StatusCode::NOT_FOUND, "there is no such page; begin at /\n") })
            .layer(middleware::from_fn_with_state(state.clone(), guard))
            .with_state(state);
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            axum::serve(listener, routes).await
        })
    }
}

struct Shared {
    address: SocketAddr,
    /// One check at a time: each uses all cores, and much memory.
    checks: Semaphore,
}

/// Refuses requests that are not from a page of this server: another page that a browser shows must not make it work, nor
/// read what it answers, by a name that leads to this machine.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let port = shared.address.port();
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !hosts.iter().any(|known| known == host) {
        let why = format!("this server answers to {} only, not to `{}`\n", hosts[0], host.escape_default());
        return (StatusCode::MISDIRECTED_REQUEST, why).into_response();
    }
    if request.method() != Method::GET {
        return (StatusCode::METHOD_NOT_ALLOWED, "this server answers GET requests only\n").into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(page::SERVED_POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

async fn answer_execution(RawQuery(query): RawQuery) -> Response {
    let options = Options::parse(query.as_deref());
    in_background(move || execution(&options.scenario(&["choices"])?, options.get("choices").unwrap_or(""))).await
}

async fn answer_found(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Response {
    let Ok(_one) = shared.checks.acquire().await else { return reply(Err("the server is ending".to_string())) };
    let options = Options::parse(query.as_deref());
    in_background(move || {
        let limit = match options.get("limit") {
            None => DEFAULT_STATES,
            Some(text) => text.parse().map_err(|_| format!("`limit` is a number of states, not `{text}`"))?,
        };
        let deadline = Arc::new(Deadline(Instant::now() + PATIENCE));
        let scenario = options.scenario(&["limit"])?;
        let found = found(&scenario, limit.min(MAX_STATES), |model| model.observer(deadline))?;
        Ok(json!({ "found": found }))
    })
    .await
}

async fn answer_curves(RawQuery(query): RawQuery) -> Response {
    let options = Options::parse(query.as_deref());
    in_background(move || Ok(json!({ "curves": curves(options.scenario(&[])?.about) }))).await
}

/// Ends a check that takes too long.
struct Deadline(Instant);

impl Observer for Deadline {
    fn progress(&self, _: &Progress) {}

    fn cancelled(&self) -> bool {
        Instant::now() >= self.0
    }
}

/// Computes an answer on another thread, so that other requests are answered meanwhile.
async fn in_background(compute: impl FnOnce() -> Result<Value, String> + Send + 'static) -> Response {
    let failed = |_| Err("the algorithm panicked; `doorway check` tells more".to_string());
    reply(task::spawn_blocking(compute).await.unwrap_or_else(failed))
}

fn reply(answer: Result<Value, String>) -> Response {
    match answer {
        Ok(value) => typed("application/json", value.to_string()),
        Err(error) => {
            (StatusCode::BAD_REQUEST, typed("application/json", json!({ "error": error }).to_string())).into_response()
        }
    }
}

fn typed(kind: &'static str, body: impl IntoResponse) -> Response {
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

/// The options of a request.
struct Options(Vec<(String, String)>);

impl Options {
    fn parse(query: Option<&str>) -> Options {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        Options(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The scenario, from all options but these.
    fn scenario(&self, but: &[&str]) -> Result<Scenario, String> {
        let options = self.0.iter().filter(|(name, _)| !but.contains(&name.as_str()));
        Scenario::parse(options.map(|(name, value)| (name.as_str(), value.as_str())))
    }
}
