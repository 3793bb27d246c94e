//! No other token is given where the first may have done something.

use crate::{
    db::{Db, Fixture},
    journalled::{AnyOrder, Order, Orders as _, row},
};
use onward::{
    Clash, Outcome,
    token::{Consumed, Receipt, Tokens},
};
use sqlx::Pool;

on_every_database![not_for_a_second_click, not_where_the_request_moved_another_row];

/// One token, shown twice.
async fn clicked_twice<B: Db>(tokens: &Tokens<Pool<B>>) -> (Receipt, Receipt) {
    let token = tokens.issue("anna").await.unwrap();
    let Consumed::Fresh(first) = tokens.consume("anna", token.secret()).await.unwrap() else { panic!() };
    let Consumed::Used(second) = tokens.consume("anna", token.secret()).await.unwrap() else { panic!() };
    (first, second)
}

/// The first may still be at work, whatever became of the second.
async fn not_for_a_second_click<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.orders(0).await;
    let tokens = Tokens::new(&db.pool, "order");
    let (first, second) = clicked_twice(&tokens).await;
    let not_applied = || Ok(Outcome::<AnyOrder>::NotFound);
    assert!(tokens.replace_after(&second, &not_applied()).await.unwrap().is_none());
    let failed = Outcome::<AnyOrder>::NotFound.applied().map(Outcome::Applied);
    assert!(tokens.replace_after(&second, &failed).await.unwrap().is_none());
    assert!(tokens.replace_after(&first, &not_applied()).await.unwrap().is_some());
}

async fn not_where_the_request_moved_another_row<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.orders(0).await;
    let tokens = Tokens::new(&db.pool, "order");
    let (first, _) = clicked_twice(&tokens).await;
    let ordered = async |id: i64, order_no: &str| {
        let mut row = row(id);
        row.order_no = order_no.into();
        Order::create(row).request_id(first.request_id()).apply(&db.pool).await
    };
    assert_eq!(ordered(1, "N-1").await.unwrap().as_str(), "applied");
    let again = ordered(2, "N-2").await;
    let Ok(Outcome::Conflict(conflict)) = &again else { panic!("{again:?}") };
    assert_eq!(conflict.clash, Clash::UniqueTaken(Some("request_id")));
    assert!(tokens.replace_after(&first, &again).await.unwrap().is_none());
    // Of a clash that the customer can do something about there is another token.
    let (another, _) = clicked_twice(&tokens).await;
    let mut taken = row(3);
    taken.order_no = "N-1".into();
    let taken = Order::create(taken).request_id(another.request_id()).apply(&db.pool).await;
    assert_eq!(taken.as_ref().unwrap().as_str(), "unique_taken");
    assert!(tokens.replace_after(&another, &taken).await.unwrap().is_some());
}
