//! On which CPUs servers and generator ran.

use model::{CpuShare, SessionAnalysis};

use crate::format::counted;

/// On which CPUs servers and generator ran, and that more of them are not in the figures: `Servers ran on CPU 0, the generator on
/// CPU 1: what servers do with more CPUs is not in these figures`.
pub(crate) fn share(session: &SessionAnalysis) -> Option<String> {
    let CpuShare { generator, targets, nodes } = session.cpus.as_ref()?;
    let on = |cpus: &[u32]| match cpus {
        [] => "whatever CPU was free".to_owned(),
        [one] => format!("CPU {one}"),
        _ => format!("CPUs {}", numbers(cpus)),
    };
    if let Some(nodes) = nodes {
        let made = format!("load was made by {}", counted((*nodes).into(), "node", "nodes"));
        return Some(match targets.as_deref() {
            Some(targets) => format!("Servers ran on {}, and the {made}", on(targets)),
            None => format!("The {made}; on how many CPUs servers ran is a condition"),
        });
    }
    Some(match targets.as_deref() {
        None => format!("The generator ran on {}; on how many CPUs servers ran is a condition", on(generator)),
        Some([]) if generator.is_empty() => "Servers and generator shared all CPUs".to_owned(),
        Some(targets @ [_]) => format!(
            "Servers ran on {}, the generator on {}: what servers do with more CPUs is not in these figures",
            on(targets),
            on(generator)
        ),
        Some(targets) => format!("Servers ran on {}, the generator on {}", on(targets), on(generator)),
    })
}

/// What who reads no notes must know as well: `servers on one CPU`, where the machine has more.
pub(crate) fn on_one(session: &SessionAnalysis) -> Option<String> {
    let CpuShare { generator, targets, .. } = session.cpus.as_ref()?;
    let has_others = targets.as_ref().is_some_and(|targets| targets.len() == 1 && generator != targets);
    has_others.then(|| "servers on one CPU".to_owned())
}

/// `0`, `0 and 2`, `0 to 3`.
pub(crate) fn numbers(cpus: &[u32]) -> String {
    let is_range = cpus.len() > 2 && cpus.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match cpus {
        [first, .., last] if is_range => format!("{first} to {last}"),
        _ => cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(" and "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ran_where_is_said_and_what_one_cpu_does_not_show() {
        let said = |generator: &[u32], targets: Option<&[u32]>| {
            let cpus = CpuShare { generator: generator.to_vec(), targets: targets.map(<[u32]>::to_vec), nodes: None };
            share(&SessionAnalysis { cpus: Some(cpus), ..SessionAnalysis::default() }).unwrap()
        };
        assert_eq!(
            said(&[1], Some(&[0])),
            "Servers ran on CPU 0, the generator on CPU 1: what servers do with more CPUs is not in these figures"
        );
        assert_eq!(said(&[6, 7], Some(&[0, 1, 2, 3])), "Servers ran on CPUs 0 to 3, the generator on CPUs 6 and 7");
        assert_eq!(said(&[], Some(&[])), "Servers and generator shared all CPUs");
        assert_eq!(said(&[1], None), "The generator ran on CPU 1; on how many CPUs servers ran is a condition");
        assert_eq!(share(&SessionAnalysis::default()), None);
        let by_nodes = CpuShare { generator: vec![1], targets: Some(vec![0]), nodes: Some(2) };
        let by_nodes = SessionAnalysis { cpus: Some(by_nodes), ..SessionAnalysis::default() };
        assert_eq!(share(&by_nodes).unwrap(), "Servers ran on CPU 0, and the load was made by 2 nodes");
        let on_one = |generator: &[u32], targets: &[u32]| {
            let cpus = CpuShare { generator: generator.to_vec(), targets: Some(targets.to_vec()), nodes: None };
            on_one(&SessionAnalysis { cpus: Some(cpus), ..SessionAnalysis::default() }).is_some()
        };
        assert_eq!([on_one(&[1], &[0]), on_one(&[0], &[0]), on_one(&[2, 3], &[0, 1])], [true, false, false]);
    }
}
