//! Whether everything became of the lines that should: line by line, and by adding up the tables.

use crate::{
    handler::Told,
    shop::{AnyOrder, Shop},
};
use onward::sqlx::{self, Pool};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What became of each kind of line, and what the provider was told.
pub fn print(told: &[Told]) {
    let mut kinds: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for told in told {
        kinds.entry((&told.word, told.reply)).or_default().push(told.line);
    }
    println!("{:<16} {:<8} {:>5}  lines", "became", "answered", "count");
    for ((word, reply), lines) in kinds {
        let named: Vec<String> = lines.iter().map(ToString::to_string).collect();
        // What was settled is the normal case; everything else is named.
        let shown = if matches!(word, "applied" | "duplicate") { String::new() } else { named.join(" ") };
        println!("{word:<16} {reply:<8} {:>5}  {shown}", lines.len());
    }
}

/// What the journal knows of one order.
pub async fn history<D: Shop>(db: &Pool<D>, told: &[Told]) -> Result<(), onward::Error> {
    let Some(paid) = told.iter().find(|told| told.word == "applied") else { return Ok(()) };
    println!("the history of {}:", paid.order_no);
    for entry in AnyOrder::history(db, paid.order_no.clone()).await?.entries {
        let (cause, actor) = (entry.cause.unwrap_or_default(), entry.actor.unwrap_or_default());
        println!("  {} {} {cause} {actor}", entry.version, entry.step);
    }
    Ok(())
}

/// Compares each line with what was written down for it by hand.
pub fn lines(told: &[Told], expected: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut applied: HashMap<(&str, &str), usize> = HashMap::new();
    let mut rows = told.iter();
    for expected in expected.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut words = expected.split_whitespace();
        let (Some(line), Some(word), Some(reply), Some(told)) =
            (words.next(), words.next(), words.next(), rows.next())
        else {
            wrong.push(format!("no line for the expectation `{expected}`"));
            continue;
        };
        if told.line.to_string() != line {
            wrong.push(format!("line {} where line {line} was expected", told.line));
        }
        let as_expected = match word {
            "paid" => {
                let once = applied.entry((&told.order_no, &told.trade_no)).or_default();
                *once += usize::from(told.word == "applied");
                matches!(&*told.word, "applied" | "duplicate")
            }
            "unknown_order" => told.word == "not_found",
            other => told.word == other,
        };
        let told_as_expected = match reply {
            "success" => matches!(told.reply, "success" | "200"),
            _ => matches!(told.reply, "failure" | "500"),
        };
        if !as_expected || !told_as_expected {
            wrong.push(format!("line {line}: {word} {reply} was expected, not {} {}", told.word, told.reply));
        }
    }
    wrong.extend(rows.map(|told| format!("nothing was expected of line {}", told.line)));
    for ((order_no, trade_no), times) in applied {
        if times != 1 {
            wrong.push(format!("order {order_no} was paid {times} times with {trade_no}"));
        }
    }
    wrong
}

/// What is true whatever came: a question for each way in which it could be wrong, to which the answer is none.
const NONE: [(&str, &str); 10] = [
    (
        "orders had their stock deducted more than once",
        "SELECT COUNT(*) FROM (SELECT order_no FROM shop_deductions GROUP BY order_no HAVING COUNT(*) > 1) AS d",
    ),
    (
        "payments settled more than one order",
        "SELECT COUNT(*) FROM (SELECT trade_no FROM shop_orders WHERE trade_no IS NOT NULL
         GROUP BY provider, trade_no HAVING COUNT(*) > 1) AS p",
    ),
    (
        "paid orders have no deduction",
        "SELECT COUNT(*) FROM shop_orders o WHERE status = 'paid'
         AND NOT EXISTS (SELECT 1 FROM shop_deductions d WHERE d.order_no = o.order_no AND d.quantity = o.quantity)",
    ),
    (
        "deductions have no paid order",
        "SELECT COUNT(*) FROM shop_deductions d
         WHERE NOT EXISTS (SELECT 1 FROM shop_orders o WHERE o.order_no = d.order_no AND o.status = 'paid')",
    ),
    ("orders moved more than once", "SELECT COUNT(*) FROM shop_orders WHERE version > 1"),
    (
        "paid orders have not one entry `pay`, for their payment, in the journal",
        "SELECT COUNT(*) FROM shop_orders o WHERE status = 'paid' AND 1 <> (SELECT COUNT(*) FROM shop_journal j
         WHERE j.row_key = o.order_no AND j.transition = 'pay' AND j.cause = CONCAT(o.provider, ',', o.trade_no))",
    ),
    (
        "orders have other than one journal entry for each version",
        "SELECT COUNT(*) FROM shop_orders o
         WHERE version + 1 <> (SELECT COUNT(*) FROM shop_journal j WHERE j.row_key = o.order_no)",
    ),
    (
        "payments in the journal have no notification that is applied",
        "SELECT COUNT(*) FROM shop_journal j WHERE transition = 'pay' AND NOT EXISTS (SELECT 1 FROM onward_inbox i
         WHERE i.status = 'applied' AND i.business_key = j.row_key AND CONCAT(i.source, ' ', i.message_id) = j.actor)",
    ),
    (
        "notifications are applied, and moved no order",
        "SELECT COUNT(*) FROM onward_inbox i WHERE status = 'applied' AND NOT EXISTS (SELECT 1 FROM shop_journal j
         WHERE j.transition = 'pay' AND i.business_key = j.row_key AND CONCAT(i.source, ' ', i.message_id) = j.actor)",
    ),
    (
        "notifications were left lying",
        "SELECT COUNT(*) FROM onward_inbox WHERE status IN ('received', 'claimed')",
    ),
];

/// Adds up the tables by plain SQL.
pub async fn tables<D: Shop>(
    db: &Pool<D>,
    articles: &str,
    told: &[Told],
) -> Result<Vec<String>, sqlx::Error> {
    let mut wrong = Vec::new();
    for (what, sql) in NONE {
        match D::number(db, sql).await? {
            0 => {}
            count => wrong.push(format!("{count} {what}")),
        }
    }
    for line in articles.lines().skip(1) {
        let Some((article, Ok(start))) = line.split_once(',').map(|(a, s)| (a, s.parse::<i64>())) else {
            continue;
        };
        let (left, paid) = D::left_and_paid(db, article).await?;
        if left != start - paid.iter().sum::<i64>() {
            wrong.push(format!("{article}: {start} at the start, {left} left, {paid:?} paid for"));
        }
    }
    let applied = told.iter().filter(|told| told.word == "applied").count();
    let paid = D::number(db, "SELECT COUNT(*) FROM shop_orders WHERE status = 'paid'").await?;
    if i64::try_from(applied) != Ok(paid) {
        wrong.push(format!("{applied} lines were applied, {paid} orders are paid"));
    }
    wrong.extend(inbox(db, told).await?);
    let waiting = D::number(db, "SELECT COUNT(*) FROM onward_inbox WHERE status = 'needs_attention'").await?;
    println!("{paid} orders paid, {waiting} notifications kept for a person to look at");
    Ok(wrong)
}

/// One entry in the right status for each notification that was verified, none for anything else.
async fn inbox<D: Shop>(db: &Pool<D>, told: &[Told]) -> Result<Vec<String>, sqlx::Error> {
    let mut wrong = Vec::new();
    let (mut entries, mut payloads, mut aside) = (BTreeMap::new(), HashSet::new(), HashSet::new());
    for told in told {
        let Some(source) = told.source else { continue };
        let Some((id, message_id)) = &told.entry else {
            aside.insert((source, &told.digest));
            continue;
        };
        payloads.insert((source, message_id, &told.digest));
        let status = match &*told.word {
            "applied" => "applied",
            // A repeat says nothing about what the first one was.
            "duplicate" => entries.get(id).map_or("duplicate", |(_, _, status)| *status),
            "ignored" => "refused",
            "not_found" => "failed",
            _ => "needs_attention",
        };
        entries.insert(*id, (source, message_id, status));
    }
    for (id, (source, message_id, status)) in &entries {
        if D::entries(db, *id, source, message_id, status).await? != 1 {
            wrong.push(format!("{source} {message_id} is not the entry {id}, {status}"));
        }
    }
    let counts: [(&str, usize, &str); 3] = [
        ("verified notifications", payloads.len(), "SELECT COUNT(*) FROM onward_inbox"),
        ("entries", entries.len(), "SELECT COUNT(*) FROM onward_inbox"),
        ("rejected bodies", aside.len(), "SELECT COUNT(*) FROM onward_unverified"),
    ];
    for (what, expected, sql) in counts {
        let kept = D::number(db, sql).await?;
        if i64::try_from(expected) != Ok(kept) {
            wrong.push(format!("{expected} {what}, of which {kept} are kept"));
        }
    }
    Ok(wrong)
}
