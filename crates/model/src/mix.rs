use serde::{Deserialize, Serialize};

use crate::{HttpVersion, ReplyExpectation, Request};

/// One of the requests of a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightedRequest {
    /// What is sent.
    pub request: Request,
    /// What must come back.
    pub expect: ReplyExpectation,
    /// How often it is asked relative to the others: above 0.
    pub weight: f64,
}

/// The requests of a load, at least one. Each time one of them is drawn at random, in proportion to its weight.
///
/// On disk a single request is `request` and `expect`, several are a list `requests`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Mix(Vec<WeightedRequest>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Several { requests: Vec<WeightedRequest> },
    One { request: Request, expect: ReplyExpectation },
}

impl Mix {
    /// The same request, over and over.
    pub fn one(request: Request, expect: ReplyExpectation) -> Mix {
        Mix(vec![WeightedRequest { request, expect, weight: 1.0 }])
    }

    /// Several requests; none if there are none, if a weight is not a finite number above 0, or if they are not all of one
    /// version: a connection speaks one protocol, and serves all of them.
    pub fn of(requests: Vec<WeightedRequest>) -> Option<Mix> {
        let version = requests.first().map(|one| one.request.version);
        let sound =
            |one: &WeightedRequest| one.weight.is_finite() && one.weight > 0.0 && Some(one.request.version) == version;
        (!requests.is_empty() && requests.iter().all(sound)).then_some(Mix(requests))
    }

    /// Every request, in order.
    pub fn requests(&self) -> &[WeightedRequest] {
        &self.0
    }

    /// The first request: of a load that has one, the request.
    pub fn first(&self) -> &WeightedRequest {
        &self.0[0]
    }

    /// The version that all of them ask in.
    pub fn version(&self) -> HttpVersion {
        self.first().request.version
    }

    /// The same requests for another host.
    pub fn at_host(mut self, host: &str) -> Mix {
        for one in &mut self.0 {
            host.clone_into(&mut one.request.host);
        }
        self
    }
}

impl TryFrom<Written> for Mix {
    type Error = String;

    fn try_from(written: Written) -> Result<Mix, String> {
        match written {
            Written::One { request, expect } => Ok(Mix::one(request, expect)),
            Written::Several { requests } => Mix::of(requests).ok_or_else(|| {
                "a load needs at least one request, each with a weight above 0, and all of one HTTP version".to_owned()
            }),
        }
    }
}

impl From<Mix> for Written {
    fn from(mix: Mix) -> Written {
        match <[WeightedRequest; 1]>::try_from(mix.0) {
            Ok([WeightedRequest { request, expect, .. }]) => Written::One { request, expect },
            Err(requests) => Written::Several { requests },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Load, LoadModel};

    /// The load of a cell as version 1 has always written it.
    const ONE: &str = r#"
connections = 100
pipeline = 1
keep_alive = true
warm_up_ns = 1000000000
window_ns = 10000000000

[request]
method = "GET"
path = "/a"
host = ""
headers = []
body = []
version = "1.1"

[expect]
status = 200
body = [104, 105]

[load_model]
model = "closed"
"#;

    fn request(path: &str) -> Request {
        Request {
            method: "GET".into(),
            path: path.into(),
            host: String::new(),
            headers: vec![],
            body: vec![],
            version: HttpVersion::Http11,
        }
    }

    fn weighted(path: &str, weight: f64) -> WeightedRequest {
        WeightedRequest { request: request(path), expect: ReplyExpectation::default(), weight }
    }

    #[test]
    fn a_plan_from_before_there_were_mixes_is_read_and_one_request_is_still_written_so() {
        let load: Load = toml::from_str(ONE).unwrap();
        let expect = ReplyExpectation { status: Some(200), body: Some(b"hi".to_vec()) };
        assert_eq!((&load.mix, load.model), (&Mix::one(request("/a"), expect), LoadModel::Closed));
        let written = toml::to_string(&load).unwrap();
        assert!(written.contains("[request]") && !written.contains("weight"), "{written}");
        assert_eq!(toml::from_str::<Load>(&written).unwrap(), load);
    }

    #[test]
    fn several_requests_are_read_back() {
        let load: Load = toml::from_str(ONE).unwrap();
        let several = Load { mix: Mix::of(vec![weighted("/a", 1.0), weighted("/b", 0.5)]).unwrap(), ..load };
        let written = toml::to_string(&several).unwrap();
        assert_eq!(toml::from_str::<Load>(&written).unwrap(), several, "{written}");
    }

    #[test]
    fn a_mix_has_requests_of_one_version_and_their_weights_are_above_0() {
        assert!(Mix::of(vec![]).is_none());
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Mix::of(vec![weighted("/", 1.0), weighted("/", weight)]).is_none(), "{weight}");
        }
        let mut old = weighted("/", 1.0);
        old.request.version = HttpVersion::Http10;
        assert!(Mix::of(vec![weighted("/", 1.0), old.clone()]).is_none(), "a connection speaks one of them");
        assert_eq!(Mix::of(vec![old.clone(), old]).unwrap().version(), HttpVersion::Http10);
    }
}
