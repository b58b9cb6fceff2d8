//! What runtimes say of what is alive on their heaps.

use std::collections::BTreeMap;

use model::{Collections, HeapCountedBy, HeapKind, LiveHeap};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Kinds that are kept: what grows is among the largest sooner or later.
const KEPT_KINDS: usize = 40;

/// Characters of a name that are kept; the target chooses it.
const KEPT_CHARS: usize = 200;

/// A JVM's collections since it started, by its performance counters.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct JvmCollections {
    young: u64,
    full: u64,
    full_s: f64,
}

impl JvmCollections {
    /// What there were since an earlier count.
    pub fn since(&self, before: &JvmCollections) -> Collections {
        Collections {
            young: self.young.saturating_sub(before.young),
            full: self.full.saturating_sub(before.full),
            full_s: (self.full_s - before.full_s).max(0.0),
        }
    }
}

/// What `jcmd` prints of `PerfCounter.print`: how often young objects were collected and how often all, and for how many ticks. The serial, the
/// parallel and the G1 collector count that; ZGC and Shenandoah count something else under other names.
pub fn jvm_collections(text: &str) -> Option<JvmCollections> {
    let counters: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once('=')).collect();
    let count = |name: &str| counters.get(name)?.trim().parse::<u64>().ok();
    let per_s = count("sun.os.hrt.frequency").filter(|per_s| *per_s > 0)?;
    let counts = |collector: &str, what: &str| {
        counters.get(collector).is_some_and(|name| name.trim().trim_matches('"').ends_with(what))
    };
    if !counts("sun.gc.collector.0.name", "young collection pauses")
        || !counts("sun.gc.collector.1.name", "full collection pauses")
    {
        return None;
    }
    Some(JvmCollections {
        young: count("sun.gc.collector.0.invocations")?,
        full: count("sun.gc.collector.1.invocations")?,
        full_s: count("sun.gc.collector.1.time")? as f64 / per_s as f64,
    })
}

/// What `jcmd` prints of `GC.class_histogram`, which collects all first: lines of a rank, instances, bytes and the class, and a total.
pub fn jvm_heap(text: &str) -> Option<LiveHeap> {
    let mut kinds = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("Total"), Some(_), Some(bytes), None) => {
                return Some(live(HeapCountedBy::Jvm, bytes.parse().ok()?, kinds));
            }
            (Some(rank), Some(objects), Some(bytes), Some(class)) if rank.ends_with(':') => {
                let (Ok(objects), Ok(bytes)) = (objects.parse(), bytes.parse()) else { continue };
                kinds.push(HeapKind { name: class_name(class), bytes, objects: Some(objects) });
            }
            _ => {}
        }
    }
    None
}

/// What Go's `/debug/pprof/heap?gc=1&debug=1` says: stacks whose objects were sampled, and what is allocated on the heap in all. A sample
/// stands for as many as `runtime/pprof` takes it for: 1 ÷ (1 - exp(- mean size ÷ rate)).
pub fn go_heap(text: &str) -> Option<LiveHeap> {
    let head = text.lines().next()?.strip_prefix("heap profile: ")?;
    // It says twice the rate.
    let rate = head.rsplit_once("@ heap/")?.1.trim().parse::<f64>().ok()? / 2.0;
    let bytes = text.lines().find_map(|line| line.strip_prefix("# HeapAlloc = "))?.trim().parse().ok()?;
    let (mut by_function, mut sampled) = (BTreeMap::<String, (f64, f64)>::new(), None);
    for line in text.lines().skip(1) {
        if let Some(frame) = line.strip_prefix("#\t") {
            let function = frame.split('\t').nth(1).and_then(|name| name.rsplit_once('+')).map(|(name, _)| name);
            if let (Some((objects, bytes)), Some(function)) = (sampled.take(), function) {
                let of = by_function.entry(cut(function)).or_default();
                *of = (of.0 + objects, of.1 + bytes);
            }
        } else if !line.starts_with('#') {
            sampled = sample(line, rate);
        }
    }
    let kind = |(name, (objects, bytes)): (String, (f64, f64))| HeapKind {
        name,
        bytes: bytes as u64,
        objects: Some(objects as u64),
    };
    Some(live(HeapCountedBy::Go, bytes, by_function.into_iter().map(kind).collect()))
}

/// Where a function is, as V8 says it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFrame {
    function_name: String,
    url: String,
    line_number: i64,
}

impl CallFrame {
    /// Whether it is of the program itself: what Node and V8 bring along allocates for somebody.
    fn is_own(&self) -> bool {
        !self.url.is_empty() && !self.url.starts_with("node:")
    }

    /// `remember (app.js:12)`.
    fn name(&self) -> String {
        let function = if self.function_name.is_empty() { "(anonymous)" } else { &self.function_name };
        match self.url.rsplit('/').next() {
            Some(file) if !file.is_empty() => {
                cut(&format!("{function} ({file}:{})", self.line_number.saturating_add(1)))
            }
            _ => cut(function),
        }
    }
}

/// What V8 says of the objects that it sampled and that are alive (`HeapProfiler.getSamplingProfile`), beside how many bytes there are in all: a tree of
/// functions with what each allocated, already as many as the sample stands for. It counts for the nearest function of the program itself. The
/// tree is read without being built, for its depth is the target's choice.
pub fn node_heap(bytes: u64, profile: &str) -> LiveHeap {
    let mut by_function = BTreeMap::<String, f64>::new();
    // The functions above, each with how deep its object lies, and the place of the nearest of the program itself.
    let mut above: Vec<(usize, CallFrame, Option<usize>)> = Vec::new();
    let (text, mut depth, mut at) = (profile.as_bytes(), 0_usize, 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'{' => depth += 1,
            b'}' => {
                while above.pop_if(|(of, ..)| *of >= depth).is_some() {}
                depth = depth.saturating_sub(1);
            }
            b'"' => {
                let end = string_end(text, at);
                let key = text.get(at..end).unwrap_or_default();
                at = end + 1;
                if text.get(at) != Some(&b':') {
                    continue;
                }
                if key == b"callFrame" {
                    if let Some((frame, length)) = value::<CallFrame>(profile, at + 1) {
                        let before = above.last().and_then(|(.., nearest)| *nearest);
                        let nearest = if frame.is_own() { Some(above.len()) } else { before };
                        above.push((depth, frame, nearest));
                        at += 1 + length;
                    }
                } else if key == b"selfSize"
                    && let Some((size, _)) = value::<f64>(profile, at + 1)
                    && let Some((_, own, nearest)) =
                        above.last().filter(|(of, ..)| *of == depth && size > 0.0 && size < MOST_BYTES)
                {
                    let counts_for = nearest.and_then(|place| above.get(place)).map_or(own, |(_, frame, _)| frame);
                    *by_function.entry(counts_for.name()).or_default() += size;
                }
            }
            _ => {}
        }
    }
    let kind = |(name, bytes): (String, f64)| HeapKind { name, bytes: bytes as u64, objects: None };
    live(HeapCountedBy::Node, bytes, by_function.into_iter().map(kind).collect())
}

/// Where a string ends that begins here: at its quotation mark, or with the text.
fn string_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// More than any heap has, in bytes.
const MOST_BYTES: f64 = (1_u64 << 50) as f64;

/// Longest value that is read: where a function is.
const LONGEST_VALUE: usize = 2 * 1024;

/// The value that begins here, and how long it is; none where it is of another kind, or longer than one is.
fn value<T: DeserializeOwned>(text: &str, from: usize) -> Option<(T, usize)> {
    let to = text.floor_char_boundary(from.saturating_add(LONGEST_VALUE));
    let mut values = serde_json::Deserializer::from_str(text.get(from..to)?).into_iter::<T>();
    let found = values.next()?.ok()?;
    Some((found, values.byte_offset()))
}

/// Objects and bytes that a line `objects: bytes [..] @ ..` stands for.
fn sample(line: &str, rate: f64) -> Option<(f64, f64)> {
    let (objects, rest) = line.split_once(": ")?;
    let objects: f64 = objects.trim().parse().ok()?;
    let bytes: f64 = rest.split_once(" [")?.0.trim().parse().ok()?;
    if objects <= 0.0 || bytes <= 0.0 || rate <= 0.0 {
        return None;
    }
    let stands_for = 1.0 / (1.0 - (-(bytes / objects) / rate).exp());
    Some((objects * stands_for, bytes * stands_for)).filter(|(objects, bytes)| objects.is_finite() && bytes.is_finite())
}

fn live(by: HeapCountedBy, bytes: u64, mut kinds: Vec<HeapKind>) -> LiveHeap {
    kinds.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    kinds.truncate(KEPT_KINDS);
    LiveHeap { by, bytes, kinds, collections: None }
}

/// A class as its language writes it: `[B` is `byte[]`, `[Ljava.lang.Object;` is `java.lang.Object[]`.
fn class_name(class: &str) -> String {
    let element = class.trim_start_matches('[');
    let dimensions = class.len() - element.len();
    if dimensions == 0 {
        return cut(class);
    }
    let named = match element {
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        "Z" => "boolean",
        object => object.strip_prefix('L').unwrap_or(object).trim_end_matches(';'),
    };
    cut(&format!("{named}{}", "[]".repeat(dimensions)))
}

fn cut(name: &str) -> String {
    name.chars().take(KEPT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_of_classes_is_read() {
        let text = "4242:\n num     #instances         #bytes  class name (module)\n\
                    -------------------------------------------------------\n   \
                    1:         20000       10560000  [B (java.base@17.0.1)\n   \
                    2:           100           2400  java.lang.String (java.base@17.0.1)\n   \
                    3:             7            200  [Ljava.lang.Object; (java.base@17.0.1)\n\
                    Total         20107       10562600\n";
        let heap = jvm_heap(text).unwrap();
        assert_eq!((heap.bytes, heap.kinds.len()), (10_562_600, 3));
        assert_eq!(heap.kinds[0], HeapKind { name: "byte[]".to_owned(), bytes: 10_560_000, objects: Some(20_000) });
        assert_eq!(heap.kinds[2].name, "java.lang.Object[]");
        assert_eq!(jvm_heap("4242:\nNo such process\n"), None);
    }

    #[test]
    fn collections_are_counted_from_one_look_to_the_next() {
        // As JDK 17 and 25 print it.
        let said = |[first, second]: [&str; 2], young: u64, full: u64, ticks: u64| {
            jvm_collections(&format!(
                "sun.gc.collector.0.invocations={young}\nsun.gc.collector.1.invocations={full}\n\
                 sun.gc.collector.0.name=\"{first}\"\nsun.gc.collector.1.name=\"{second}\"\n\
                 sun.gc.collector.1.time={ticks}\nsun.os.hrt.frequency=1000000000\njava.rt.vmArgs=\"-Dx=y\"\n"
            ))
        };
        let at = |young, full, ticks| {
            said(["G1 young collection pauses", "G1 full collection pauses"], young, full, ticks).unwrap()
        };
        let since = at(9, 3, 2_500_000_000).since(&at(4, 1, 500_000_000));
        assert_eq!((since.young, since.full, since.full_s), (5, 2, 2.0));
        assert_eq!(said(["Shenandoah partial", "Shenandoah full"], 0, 0, 0), None, "it counts neither there");
        assert_eq!(jvm_collections("sun.os.hrt.frequency=0\n"), None);
    }

    #[test]
    fn a_profile_of_a_heap_is_read_and_each_sample_stands_for_many() {
        let text = "heap profile: 3: 2097664 [9: 9] @ heap/1048576\n\
                    2: 2097152 [3: 3] @ 0x1 0x2\n#\t0x1\tmain.keep+0x45\t/main.go:12\n#\t0x2\tmain.main+0x9\t/main.go:3\n\n\
                    1: 512 [1: 512] @ 0x3\n#\t0x3\tnet/http.(*conn).serve+0x1\t/server.go:1\n\n\
                    # runtime.MemStats\n# Alloc = 5\n# HeapAlloc = 7340032\n";
        let heap = go_heap(text).unwrap();
        assert_eq!(heap.bytes, 7_340_032);
        let of = |name: &str| heap.kinds.iter().find(|kind| kind.name == name).unwrap();
        // 1 MiB at a rate of 512 KiB: 1 ÷ (1 - e⁻²).
        assert_eq!(of("main.keep").bytes, (2_097_152.0 / (1.0 - (-2.0_f64).exp())) as u64);
        // An object of 512 bytes is one of 1,024 that were not sampled, or so.
        assert!(matches!(of("net/http.(*conn).serve").objects, Some(1_024..=1_025)), "{heap:?}");
        for hostile in ["", "heap profile: ", "heap profile: 1: 1 [1: 1] @ heap/x", "<html>404</html>"] {
            assert_eq!(go_heap(hostile), None);
        }
    }

    fn frame(name: &str, url: &str, size: u32, children: &str) -> String {
        let frame =
            format!(r#"{{"functionName":"{name}","scriptId":"8","url":"{url}","lineNumber":11,"columnNumber":2}}"#);
        format!(r#"{{"callFrame":{frame},"selfSize":{size},"id":1,"children":[{children}]}}"#)
    }

    #[test]
    fn a_sample_of_v8_counts_for_the_functions_of_the_program() {
        let helped =
            frame("remember", "/srv/app.js", 400, &frame("from", "node:buffer", 500, &frame("repeat", "", 600, "")));
        let beside = [frame("\\\"selfSize\\\":{", "", 7, ""), frame("", "file:///srv/b.js", 30, "")].join(",");
        let head = frame("(root)", "", 0, &[helped, beside].join(","));
        let heap = node_heap(
            9_000,
            &format!(r#"{{"id":3,"result":{{"profile":{{"head":{head},"samples":[{{"size":5}}]}}}}}}"#),
        );
        assert_eq!((heap.by, heap.bytes), (HeapCountedBy::Node, 9_000));
        let kinds: Vec<(&str, u64)> = heap.kinds.iter().map(|kind| (kind.name.as_str(), kind.bytes)).collect();
        let expected = [("remember (app.js:12)", 1_500), ("(anonymous) (b.js:12)", 30), ("\"selfSize\":{", 7)];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn a_tree_of_any_depth_and_what_is_none_is_read_to_its_end() {
        let one = frame("f", "/srv/a.js", 1, "|");
        let (begin, end) = one.split_once('|').unwrap();
        let deep = [begin.repeat(50_000), end.repeat(50_000)].concat();
        assert_eq!(node_heap(1, &deep).kinds[0].bytes, 50_000);
        assert_eq!(node_heap(1, &"{\"callFrame\":".repeat(20_000)).kinds, []);
        for broken in
            ["", "{", "\"", "{\"callFrame\":", "{\"callFrame\":{\"functionName\":1}", "}}}{\"selfSize\":3}", "\"\\"]
        {
            assert_eq!(node_heap(1, broken).kinds, []);
        }
    }
}
