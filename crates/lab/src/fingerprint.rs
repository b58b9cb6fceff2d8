//! What the result of a build depends on, as one number: a target is built again when it changes.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use model::{BuildRecipe, Runtime, Target};
use sha2::{Digest, Sha256};

/// Hex digest of everything that the result depends on.
pub(crate) fn fingerprint(
    target: &Target,
    recipe: &BuildRecipe,
    runtime: &Runtime,
    toolchain: Option<&str>,
) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut field = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    field(&target.name);
    field(toolchain.unwrap_or_default());
    recipe.run.iter().for_each(|word| field(word));
    let pairs = |env: &BTreeMap<String, String>| env.clone().into_iter().flat_map(|(name, value)| [name, value]);
    pairs(&recipe.env).chain(pairs(&runtime.env)).for_each(|text| field(&text));
    for input in &recipe.inputs {
        hash_files(input, &mut hash)?;
    }
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// Takes a file, or every file below a folder in the order of their names, into the hash.
fn hash_files(path: &Path, hash: &mut Sha256) -> std::io::Result<()> {
    let at = |error: std::io::Error| std::io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    if path.is_dir() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(path).map_err(at)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
        entries.sort();
        return entries.iter().try_for_each(|entry| hash_files(entry, hash));
    }
    let mut content = Vec::new();
    std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut content)).map_err(at)?;
    hash.update(path.file_name().unwrap_or_default().as_encoded_bytes());
    hash.update((content.len() as u64).to_le_bytes());
    hash.update(&content);
    Ok(())
}
