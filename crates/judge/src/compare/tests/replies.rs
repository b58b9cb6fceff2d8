//! Whether both give the same answer, as far as its size says.

use super::*;

/// Replies of the new server of so many bytes, one of the six launches `off` by so many; the old one's have 1,000.
fn of_size(bytes: u64, off: u64, expects_a_body: bool) -> Vec<model::ReplySizes> {
    let session = session(100.0, 100.0, 0.005);
    let (mut draft, mut trials) = (session.draft(), session.records());
    for trial in &mut trials {
        let seen = &mut trial.measurement.as_mut().unwrap().in_window;
        let of_new = bytes + if trial.block == 3 { off } else { 0 };
        seen.ok_bytes = seen.ok * if trial.cell == 0 { of_new } else { 1_000 };
    }
    if expects_a_body {
        for cell in &mut draft.cells {
            let asked = cell.load.mix.first().request.clone();
            let expect = model::ReplyExpectation { status: Some(200), body: Some(b"[]".to_vec()) };
            cell.load.mix = model::Mix::one(asked, expect);
        }
    }
    let plan = draft.resolve().unwrap();
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    compare_targets(run, "old", "new", &[]).reply_sizes
}

#[test]
fn replies_of_another_size_may_be_another_answer() {
    let found = of_size(400, 0, false);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].old_bytes, found[0].new_bytes), (1_000.0, 400.0));
    assert_eq!(of_size(1_020, 0, false).len(), 1, "2 %");
    assert!(of_size(1_009, 0, false).is_empty(), "as an id makes it");
    assert!(of_size(1_020, 40, false).is_empty(), "its own launches differ by more");
    assert!(of_size(400, 0, true).is_empty(), "the bodies were compared");
}
