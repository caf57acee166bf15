//! One call of a tool, from arguments to answer.

use serde_json::Value;

use crate::{
    answer,
    arguments::Request,
    catalog::{CatalogSource, fetch::chain},
    sandbox,
    site_ids::SiteIds,
};

/// Answers a call.
pub async fn answer(source: &CatalogSource, request: &Request) -> Value {
    let served = source.serve().await;
    match request {
        Request::Search {
            query,
            category,
            limit,
        } => answer::search_services(&served, query, category.as_deref(), *limit),
        Request::Service { id } => answer::get_service(&served, id),
        Request::Categories => answer::list_categories(&served),
        Request::Companions { query } => answer::list_companions(&served, query),
        Request::Wsb { service_ids } => answer::generate_wsb(&served, service_ids),
        Request::Launch { service_ids } => {
            let ids = SiteIds::select(&served.catalog, service_ids);
            if ids.services.is_empty() {
                return answer::nothing_to_launch(&served, &ids);
            }
            let site_ids: Vec<String> = ids.accepted().into_iter().map(str::to_owned).collect();
            // Starting a program takes time in which other calls are answered.
            let opening = tokio::task::spawn_blocking(move || {
                let site_ids: Vec<&str> = site_ids.iter().map(String::as_str).collect();
                sandbox::open(&site_ids)
            });
            match opening.await {
                Ok(outcome) => {
                    if let Err(error) = &outcome {
                        tracing::warn!(error = chain(error), "sandbox is not opening");
                    }
                    answer::launch_sandbox(&served, &ids, &outcome)
                }
                Err(error) => {
                    tracing::error!(%error, "launch died");
                    answer::refusal(&error.to_string())
                }
            }
        }
    }
}
