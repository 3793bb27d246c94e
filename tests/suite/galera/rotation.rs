//! That the suite really runs on all nodes.

use super::fixture;
use std::collections::BTreeSet;

#[tokio::test]
async fn statements_that_follow_each_other_go_to_all_nodes() {
    let db = fixture("", 10).await;
    let mut names = Vec::new();
    for _ in 0..30 {
        names.push(db.text("SELECT @@wsrep_node_name").await);
    }
    let nodes: BTreeSet<&String> = names.iter().collect();
    assert_eq!(nodes.len(), 3, "{names:?}");
    // A connection goes back once it has been tested, so that under load two can change places.
    let changes = names.windows(2).filter(|two| two[0] != two[1]).count();
    assert!(changes > 14, "the same node again and again: {names:?}");
}
