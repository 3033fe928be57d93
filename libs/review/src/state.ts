import type {
  Action,
  ActionTaken,
  ActorRef,
  AgentRef,
  DecisionName,
  Field,
  Hold,
  PersonRef,
  Proof,
  ReviewRequested,
  Shown,
  SystemRef,
  TemplateSnapshot,
  Timeout,
} from '@countersign/contracts';

/** The state of a review is plain JSON: read models store it as it is. All times are ISO 8601 in UTC. */
export type ReviewState = NoReview | Pending | AwaitingIteration | Decided | Expired | Archived;
export type RequestedReview = Exclude<ReviewState, NoReview>;
/** A review nobody has settled yet. */
export type OpenReview = Pending | AwaitingIteration;
export type SettledReview = Decided | Expired;

/** Nothing was requested under this id, or what was requested is erased (K4). */
export interface NoReview {
  status: 'none';
  erased?: true;
}

export interface Pending extends ReviewRecord {
  status: 'pending';
}

export interface AwaitingIteration extends ReviewRecord {
  status: 'awaiting_iteration';
  changes: {
    requested_at: string;
    requested_by: PersonRef;
    /** Edits that came with it; absent where there were none. */
    edited_payload?: Record<string, unknown>;
    /** When the review goes back to pending by itself; null = never. */
    deadline: string | null;
    timeout_seconds: number | null;
  };
}

export interface Decided extends ReviewRecord {
  status: 'decided';
  outcome: DecidedOutcome;
}

export interface Expired extends ReviewRecord {
  status: 'expired';
  outcome: ExpiredOutcome;
}

export interface Archived extends ReviewRecord {
  status: 'archived';
  outcome: DecidedOutcome | ExpiredOutcome;
  archived_at: string;
  archived_by: ActorRef;
}

export interface DecidedOutcome {
  kind: 'decided';
  decision: DecisionName;
  version: number;
  decided_at: string;
  decided_by: PersonRef | SystemRef;
  /** The person whose request for changes closed the review, where a rule decided. */
  acted_by: PersonRef | null;
  trigger: 'action' | 'auto_approve' | 'timeout' | 'max_iterations';
  action: ActionTaken | null;
  proof: Proof | null;
  shown: Shown | null;
  approved_value: Record<string, unknown> | null;
  approved_digest: string | null;
  edited_payload: Record<string, unknown> | null;
  changed_keys: string[];
  held_by: Hold | null;
  redemption: Redemption | null;
  executions: Execution[];
}

export interface ExpiredOutcome {
  kind: 'expired';
  expired_at: string;
  withdrawal: { by: AgentRef; reason: string | null } | null;
}

export interface Redemption {
  id: string;
  digest: string;
  executor: string | null;
  redeemed_at: string;
  by: AgentRef;
}

export interface Execution {
  id: string;
  redemption_id: string | null;
  status: 'succeeded' | 'failed';
  output_digest: string | null;
  note: string | null;
  executed_at: string;
  by: AgentRef;
}

/** The last thing a person did, in the terms that tell a repeat from a new act (decision 23). */
export interface Act {
  action: ActionTaken;
  by: PersonRef;
  at: string;
  shown: Shown;
  feedback: string | null;
  /** The edit that came with it. */
  edited_payload: Record<string, unknown> | null;
  /** Whether doing it again would be a repeat: nothing happened since that undid it. */
  standing: boolean;
}

/** What the agent was asked for. */
export interface ChangeRequest {
  feedback: string | null;
  requested_at: string;
  requested_by: PersonRef;
  /** What the person would have in the payload; absent where they suggested nothing. */
  edited_payload?: Record<string, unknown>;
}

type Pinned = Pick<
  ReviewRequested,
  | 'fields'
  | 'actions'
  | 'priority'
  | 'confidence'
  | 'irreversibility'
  | 'oversight'
  | 'metadata'
  | 'callback_url'
  | 'trace_url'
  | 'changes_timeout_seconds'
  | 'approval_valid_seconds'
  | 'max_iterations'
  | 'idempotency_key'
  | 'requester'
  | 'on_behalf_of'
>;

export interface ReviewRecord extends Pinned {
  id: string;
  project_id: string;
  template: TemplateSnapshot;
  fields: Field[];
  actions: Action[];
  payload: Record<string, unknown>;
  payload_digest: string;
  current_version: number;
  /** An e-mail address or `role:<role>`. */
  assignee: string | null;
  /** The person it is; null for a role and for nobody. */
  assignee_id: string | null;
  timeout: Timeout | null;
  /** End of the review's window: requested plus its timeout. */
  expires_at: string | null;
  /** Ids of the people who answer for what was submitted: owners of the keys, who owned or was shown one before, and who it is for. None of them may approve (decision 30). */
  answerable: string[];
  feedback: string | null;
  prompt_edit: string | null;
  last_act: Act | null;
  /** The request for changes that was open when the review was settled; absent where there was none. */
  unanswered?: ChangeRequest;
  /** Drafts saved up to then were about something else (HRP §2.6). */
  drafts_void_at: string | null;
  held_by: Hold | null;
  held_at: string | null;
  /** Who lost a hold to somebody else's claim or assignment. */
  hold_lost_by: Hold | null;
  reminded_at: string | null;
  /** Refused attempts after the deadline, one for each actor, kind and action (R3). */
  late_attempts: { by: ActorRef; attempt: 'act' | 'resubmit'; action_id: string | null }[];
  created_at: string;
  updated_at: string;
}
