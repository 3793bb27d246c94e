//! Integers as statuses, and a lifecycle that documents nothing itself.

use uuid::Uuid;

steps::lifecycle! {
    pub struct Approval in "approvals" (version: u32);
    pub struct ApprovalRow { id: Uuid, document: String }
    pub enum AnyApproval: ApprovalStatus as i16 {
        Draft = 0 { author: String },
        Requested = 10: Draft { approver: String },
        Approved = 20: Requested { approved_by: String, second: Option<i64> },
        Rejected = -1: Requested { rejected_by: String },
    }
    transitions {
        request: Draft -> Requested;
        approve: Requested -> Approved by approved_by shared;
        reject: Requested -> Rejected by rejected_by;
    }
}

/// Statuses are numbers here.
#[must_use]
pub const fn code(status: ApprovalStatus) -> i16 {
    status.code()
}

/// The first state has facts of its own.
pub fn draft<'c>(id: Uuid) -> steps::Attempt<steps::Creation<'c, Draft>> {
    Approval::create(ApprovalRow { id, document: String::new() }, String::from("me"))
}

mod retired {
    steps::lifecycle! {
        #[deprecated]
        pub(super) struct Slip in "slips";
        #[deprecated = "no more slips"]
        #[cfg_attr(all(), derive(Eq, serde::Deserialize), serde(rename_all = "camelCase"))]
        pub(super) struct SlipRow { id: i64, #[deprecated] #[cfg_attr(all(), serde(rename = "c"))] colour: String guard }
        #[deprecated]
        #[cfg_attr(any(), derive(Eq))]
        pub(in crate::approvals) enum AnySlip: SlipStatus {
            #[cfg_attr(all(), deprecated, derive(Eq))]
            Blank { #[deprecated] by: String },
            #[deprecated]
            #[derive(PartialOrd)]
            Signed: Blank { #[deprecated(note = "unread")] signed_by: String, #[deprecated] place: Option<String> },
        }
        transitions {
            #[deprecated]
            #[cfg_attr(all(), doc = "Somebody signs.")]
            sign: Blank -> Signed by signed_by;
        }
    }

    #[allow(deprecated)]
    impl PartialOrd for SlipRow {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            self.id.partial_cmp(&other.id)
        }
    }
}

mod smallest {
    steps::lifecycle! {
        struct Flag in "flags";
        struct FlagRow { id: String }
        enum AnyFlag: FlagStatus { Down, Up }
        transitions { raise: Down -> Up; }
    }

    #[allow(unused)]
    fn raise(flag: Flag<Down>) -> bool {
        drop(flag.raise());
        FlagStatus::Down < FlagStatus::Up
    }
}
