//! Vectors for the tool `search`, from the embeddings server of `judges.toml`.

use std::path::{Path, PathBuf};

use interlock_activity::Future;
use interlock_judge::settings::Settings;
use interlock_model::embeddings::Embedder;
use interlock_tools::Meaning;

/// The embeddings server of the settings in this store and the project.
#[derive(Debug)]
pub(crate) struct ByEmbeddings {
    pub(crate) home: Option<PathBuf>,
}

impl Meaning for ByEmbeddings {
    fn vectors(&self, folder: &Path, texts: Vec<String>) -> Future<Result<Option<Vec<Vec<f32>>>, String>> {
        let settings = Settings::load(self.home.as_deref(), folder);
        Box::pin(async move {
            match settings?.embeddings {
                Some(server) => Embedder::new(&server).vectors(&texts).await.map(Some),
                None => Ok(None),
            }
        })
    }
}
