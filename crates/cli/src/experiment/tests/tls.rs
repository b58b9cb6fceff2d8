use super::errors::check;

#[test]
fn what_cannot_be_had_over_tls_is_refused() {
    let mine = "[[target]]\nname = 'mine'\nrun = 'x'\n";
    let vary = "[vary]\ntarget = 'mine'\n";
    check(&[
        (
            "[load]\ntls = «true\n[vary]\ntarget = 'alpha'\n",
            "`alpha` does not say that it can serve TLS",
            "write `tls = false`",
        ),
        (
            &format!("{mine}{vary}tls = [false, «true]\n"),
            "`mine` does not say that it can serve TLS",
            "write `tls = true` in its [[target]]",
        ),
        (
            &format!("{mine}tls = true\n[load]\ntls_resume = «true\n{vary}"),
            "without TLS no session can be resumed",
            "write `tls = true` as well",
        ),
        (
            &format!("{mine}tls = «{{}}\n{vary}"),
            "`tls` does not say how the target's own certificate is checked",
            "ca.pem",
        ),
        (
            &format!("{mine}tls = {{ ca = «'/nowhere.pem' }}\n{vary}"),
            "cannot read /nowhere.pem: No such file or directory (os error 2)",
            "name a PEM file",
        ),
        (
            &format!("{mine}tls = true\n[trials]\nladder = «'tls'\n{vary}tls = [false, true]\n"),
            "`tls` cannot change while a server runs",
            "ladder",
        ),
    ]);
}
