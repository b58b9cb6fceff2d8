//! The programs that a target's command names: nobody built them for a run, or a build put them there, and anybody may put others in
//! their place.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use model::LaunchRecipe;

use crate::build::on_path;

/// How the names of files end that an interpreter is given: a file of another kind is data, which a server may write.
const CODE: [&str; 15] =
    ["cjs", "dll", "jar", "js", "lua", "mjs", "phar", "php", "pl", "py", "pyz", "rb", "sh", "ts", "war"];

/// Largest file that is read for what it is.
const LARGEST_BYTES: u64 = 512 << 20;

/// Each as the command has it, with where it is.
pub(crate) fn named(recipe: &LaunchRecipe) -> Vec<(String, PathBuf)> {
    // What a module or an option's value is called may be a program's name, too.
    let is_value = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| recipe.run.get(before));
        before.is_some_and(|word| {
            word.strip_prefix('-') == Some("m")
                || word.chars().take_while(|letter| *letter == '-').count() == 2 && !word.contains('=')
        })
    };
    let place = |(at, word): (usize, &String)| {
        // Without the dots between.
        let below = |found: &Path| -> PathBuf { recipe.cwd.join(found).components().collect() };
        let here = Some(below(Path::new(word))).filter(|path| at > 0 && is_program(path));
        // What has no slash is looked for on PATH, where a build may have installed it: the first word, and what that starts (`env A=b server`).
        let installed = || Some(below(&on_path(word)?)).filter(|path| !is_value(at) && is_program(path));
        let path = here.or_else(installed)?;
        (!word.contains('$')).then(|| (word.clone(), path))
    };
    recipe.run.iter().enumerate().filter_map(place).collect()
}

/// Whether a file is a program, or what an interpreter takes for one.
pub fn is_program(path: &Path) -> bool {
    let is_code = path.extension().is_some_and(|end| CODE.iter().any(|code| end == *code));
    let found = path.metadata().ok().filter(|found| found.is_file() && found.len() <= LARGEST_BYTES);
    found.is_some_and(|found| is_code || found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_from_data_and_from_what_is_on_path() {
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in [("server", 0o755), ("app.py", 0o644), ("rows.db", 0o644), ("not-on-path", 0o755)] {
            let file = folder.path().join(name);
            std::fs::write(&file, name).unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        }
        let of = |run: &[&str]| {
            let run = run.iter().map(|word| (*word).to_owned()).collect();
            let recipe = LaunchRecipe { run, cwd: folder.path().to_owned(), ..recipe() };
            named(&recipe).into_iter().map(|(word, _)| word).collect::<Vec<_>>()
        };
        assert_eq!(of(&["./server", "--data", "rows.db", "$PORT"]), ["./server"]);
        assert_eq!(of(&["not-on-path", "app.py", "missing.js"]), ["app.py"]);
        assert_eq!(of(&["env", "A=b", "./server"]), ["env", "./server"]);
        assert_eq!(of(&["env", "A=b", "cat", "--port", "$PORT"]), ["env", "cat"]);
        assert_eq!(of(&["sh", "-m", "cat", "--name", "cat"]), ["sh"], "a module, and a value");
    }

    fn recipe() -> LaunchRecipe {
        LaunchRecipe {
            run: Vec::new(),
            cwd: PathBuf::new(),
            env: std::collections::BTreeMap::new(),
            ready: String::new(),
            metrics: None,
            ready_within_ns: 0,
            warm_within_ns: 0,
        }
    }
}
