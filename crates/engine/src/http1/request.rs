use model::{HttpVersion, LoadSpec, ReplyExpectation, Request};

use crate::draw::Draw;

/// What one thread sends: which request comes next, its bytes, and what its reply must be. The n-th request of a
/// thread is a function of the seed, the thread and n alone, however sends are torn.
pub(super) struct Requests<'a> {
    asked: Vec<EncodedRequest<'a>>,
    draw: Draw,
    /// Of a single request, its bytes as often as a connection may have in flight, so that a batch is one send. Of a
    /// mix, the batch that was composed last.
    batch: Vec<u8>,
}

/// One request of the mix.
pub(super) struct EncodedRequest<'a> {
    bytes: Vec<u8>,
    pub(super) expect: &'a ReplyExpectation,
    /// Whether it is HEAD, whose reply has no body whatever its head says.
    pub(super) head_only: bool,
}

impl<'a> Requests<'a> {
    pub(super) fn new(spec: &'a LoadSpec, thread: u32) -> Self {
        let asked: Vec<EncodedRequest> = encoded(spec)
            .zip(spec.mix.requests())
            .map(|(bytes, one)| EncodedRequest { bytes, expect: &one.expect, head_only: one.request.method == "HEAD" })
            .collect();
        let batch = match &asked[..] {
            [one] => one.bytes.repeat(spec.pipeline.max(1) as usize),
            _ => Vec::new(),
        };
        Self { draw: Draw::new(&spec.mix, spec.seed, thread), asked, batch }
    }

    /// How many there are to draw from.
    pub(super) fn count(&self) -> usize {
        self.asked.len()
    }

    /// The request at a place of the mix.
    pub(super) fn get(&self, place: u32) -> &EncodedRequest<'a> {
        &self.asked[place as usize]
    }

    /// The bytes of the next `count` requests, at most as many as the pipeline is deep.
    pub(super) fn next(&mut self, count: usize) -> &[u8] {
        if let [one] = &self.asked[..] {
            return &self.batch[..count * one.bytes.len()];
        }
        self.batch.clear();
        for ahead in 0..count as u64 {
            self.batch.extend_from_slice(&self.asked[self.draw.place(ahead) as usize].bytes);
        }
        &self.batch
    }

    /// The kernel has taken the next request's first byte: gives its place in the mix and how many bytes it has.
    pub(super) fn take(&mut self) -> (u32, usize) {
        let place = self.draw.take();
        (place, self.asked[place as usize].bytes.len())
    }

    /// The last `left` bytes of a request.
    pub(super) fn tail(&self, place: u32, left: usize) -> &[u8] {
        let bytes = &self.get(place).bytes;
        &bytes[bytes.len() - left..]
    }
}

/// The bytes of each request of a load, in the order of the mix.
pub(crate) fn encoded(spec: &LoadSpec) -> impl Iterator<Item = Vec<u8>> {
    spec.mix.requests().iter().map(|one| encode(&one.request, spec.keep_alive))
}

fn encode(request: &Request, keep_alive: bool) -> Vec<u8> {
    let version = match request.version {
        HttpVersion::Http10 => "HTTP/1.0",
        HttpVersion::Http11 => "HTTP/1.1",
    };
    let mut head = format!("{} {} {version}\r\n", request.method, request.path);
    let given = |name: &str| request.headers.iter().any(|(header, _)| header.eq_ignore_ascii_case(name));
    let mut line = |name: &str, value: &str| {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    };
    if !given("host") {
        line("Host", &request.host);
    }
    if !given("connection") {
        match (request.version, keep_alive) {
            (HttpVersion::Http11, false) => line("Connection", "close"),
            (HttpVersion::Http10, true) => line("Connection", "keep-alive"),
            _ => {}
        }
    }
    let body_expected = matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
    if !given("content-length") && (body_expected || !request.body.is_empty()) {
        line("Content-Length", &request.body.len().to_string());
    }
    for (name, value) in &request.headers {
        line(name, value);
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(&request.body);
    bytes
}

#[cfg(test)]
mod tests {
    use model::{Extent, Load, LoadModel, Mix, WeightedRequest};

    use super::*;

    fn request(method: &str, version: HttpVersion) -> Request {
        Request {
            method: method.into(),
            path: "/a?b=1".into(),
            host: "127.0.0.1:80".into(),
            headers: vec![],
            body: vec![],
            version,
        }
    }

    fn text(request: &Request, keep_alive: bool) -> String {
        String::from_utf8(encode(request, keep_alive)).unwrap()
    }

    fn mixed(weights: &[f64], pipeline: u16, seed: u64) -> LoadSpec {
        let one = |(index, weight): (usize, &f64)| WeightedRequest {
            request: Request { path: format!("/{}", "x".repeat(index)), ..request("GET", HttpVersion::Http11) },
            expect: ReplyExpectation::default(),
            weight: *weight,
        };
        LoadSpec {
            load: Load {
                mix: Mix::of(weights.iter().enumerate().map(one).collect()).unwrap(),
                model: LoadModel::Closed,
                connections: 1,
                pipeline,
                keep_alive: true,
                timeout_ns: None,
                warm_up_ns: 0,
                extent: Extent::Window(1),
                network_delay_ns: 0,
            },
            address: ([127, 0, 0, 1], 80).into(),
            start_spread_ns: 0,
            threads: 2,
            cpus: vec![],
            seed,
            sources: vec![],
            tls: None,
            spin: false,
            quick_ack: false,
        }
    }

    /// The places of a thread's first `count` requests.
    fn places(spec: &LoadSpec, thread: u32, count: usize) -> Vec<u32> {
        let mut requests = Requests::new(spec, thread);
        (0..count).map(|_| requests.take().0).collect()
    }

    #[test]
    fn requests_are_drawn_in_proportion_to_their_weights() {
        let spec = mixed(&[1.0, 5.0, 3.0, 1.0], 1, 7);
        let drawn = places(&spec, 0, 100_000);
        for (place, share) in [(0, 0.1_f64), (1, 0.5), (2, 0.3), (3, 0.1)] {
            let count = drawn.iter().filter(|drawn| **drawn == place).count() as f64;
            // Four standard deviations.
            let tolerance = 4.0 * (100_000.0 * share * (1.0 - share)).sqrt();
            assert!((count - 100_000.0 * share).abs() < tolerance, "{place}: {count}");
        }
    }

    #[test]
    fn what_is_drawn_depends_on_seed_thread_and_number_alone() {
        let spec = mixed(&[1.0; 16], 4, 7);
        let first = places(&spec, 0, 1000);
        assert_eq!(first, places(&mixed(&[1.0; 16], 1, 7), 0, 1000), "not on the pipeline");
        let same = |other: &[u32]| first.iter().zip(other).filter(|(a, b)| a == b).count();
        for other in
            [places(&spec, 1, 1000), places(&mixed(&[1.0; 16], 4, 8), 0, 1000), places(&spec, 0, 1001)[1..].to_vec()]
        {
            assert!((30..100).contains(&same(&other)), "one in 16 by chance: {}", same(&other));
        }
    }

    #[test]
    fn a_batch_is_the_requests_that_will_be_taken() {
        for weights in [&[1.0][..], &[1.0, 2.0, 3.0]] {
            let spec = mixed(weights, 5, 3);
            let mut requests = Requests::new(&spec, 1);
            for _ in 0..20 {
                let batch = requests.next(5).to_vec();
                assert_eq!(batch, requests.next(5), "nothing was taken");
                let taken: Vec<u8> = (0..5)
                    .flat_map(|_| {
                        let (place, length) = requests.take();
                        requests.tail(place, length).to_vec()
                    })
                    .collect();
                assert_eq!(batch, taken);
            }
        }
    }

    #[test]
    fn connection_life_is_said_where_it_is_not_the_default() {
        let new = request("GET", HttpVersion::Http11);
        assert_eq!(text(&new, true), "GET /a?b=1 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n");
        assert!(text(&new, false).contains("Connection: close\r\n"));
        let old = request("GET", HttpVersion::Http10);
        assert!(text(&old, true).contains("Connection: keep-alive\r\n"));
        assert!(!text(&old, false).contains("Connection"));
    }

    #[test]
    fn a_body_has_its_length_and_given_headers_win() {
        let mut post = request("POST", HttpVersion::Http11);
        assert!(text(&post, true).contains("Content-Length: 0\r\n"));
        post.body = b"{}".to_vec();
        post.headers = vec![("host".into(), "example".into()), ("X-Y".into(), "z".into())];
        let text = text(&post, true);
        assert!(text.ends_with("Content-Length: 2\r\nhost: example\r\nX-Y: z\r\n\r\n{}"), "{text}");
        assert!(!text.contains("127.0.0.1"));
    }
}
