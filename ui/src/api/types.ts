/** What the server answers (docs/reference/http-api.md). Real numbers are numbers; null is not known, never zero. */

export interface RunRow {
  run_id: string;
  spec: string | null;
  state: string;
  error: string | null;
  started_utc: string | null;
  ended_utc: string | null;
  dataset_id: string | null;
  dataset_sha256: string | null;
  model_id: string | null;
  model_version: string | null;
  evaluator_model_id: string | null;
  decision: string | null;
  primary_name: string | null;
  primary: number | null;
  primary_low: number | null;
  primary_high: number | null;
  n_items: number | null;
  n_planned: number | null;
  n_attempted: number | null;
  n_scored: number | null;
  n_unscored: number | null;
  journal_sha256: string | null;
  manifest_sha256: string | null;
  predictions_unavailable: string | null;
  tags: string[];
  loss: (number | null)[] | null; // a few points of the curve; null where the run has none
}

export interface RunsPage {
  runs: RunRow[];
  next_cursor: string | null;
}

// ── comparisons ──────────────────────────────────────────────────────────────────────────────────────────────

export type ItemClass = "regressed" | "improved" | "same_correct" | "same_wrong" | "only_in_a" | "only_in_b" | "expected_changed";

export interface Difference {
  n: number;
  mean_a: number | null;
  mean_b: number | null;
  difference: number | null;
  low: number | null;
  high: number | null;
  confidence: number;
  method: string;
  n_lost: number;
  n_won: number;
  p: number | null;
  test: string;
  n_clusters?: number | null;
  reason?: string | null;
  warnings?: string[];
}

export interface LeafDifference {
  path: string;
  a: unknown;
  b: unknown;
  in_a: boolean;
  in_b: boolean;
}

export interface SliceDifference {
  field: string;
  value: string;
  difference: Difference;
  p_holm: number | null;
}

export interface MeasuredDifference {
  name: string;
  leaves: LeafDifference[];
}

export interface Containment {
  n_a: number;
  n_b: number;
  n_lost: number;
  n_won: number;
  difference: Difference;
}

export interface Pair {
  a: string;
  b: string;
  n_compared: number;
  n_left_out: number;
  n_unscored: number;
  classes: Record<ItemClass, number>;
  measured_differences: MeasuredDifference[];
  unknown_in_both: string[];
  notices: string[];
  score: Difference;
  p_holm: number | null; // the score's p, adjusted for the other pairs
  passing: Difference | null;
  containment: Containment | null;
  slices: SliceDifference[];
  metadata: LeafDifference[];
}

/** Two to eight runs, the later ones against the first. */
export interface ComparedSet {
  runs: string[];
  pairs: Pair[];
}

/** A row of the item table: texts are cut, the whole of them is in `ItemDetail`. */
export interface ItemRow {
  position: number; // its place among all items of the comparison
  class: ItemClass;
  item_id: string;
  section: string | null;
  category: string | null;
  difficulty: string | null;
  prompt: string | null;
  expected: string | null;
  text_a: string | null;
  text_b: string | null;
  score_a: number | null;
  score_b: number | null;
  miss_reason_a: string | null;
  miss_reason_b: string | null;
  text_changed: boolean;
}

export interface Segment {
  op: "same" | "deleted" | "inserted";
  text: string;
}

/** One item of a comparison, whole. `segments` are the two texts held against one another, by word. */
export interface ItemDetail extends ItemRow {
  item_id_b: string | null;
  context: string | null;
  expected_b: string | null;
  sample_a: number | null;
  sample_b: number | null;
  segments: Segment[] | null;
}

export interface ItemsPage {
  items: ItemRow[];
  n: number; // rows that fit the filter
  next_cursor: string | null;
}

export type HistoryName = "learned" | "forgotten" | "flipping" | "always_correct" | "never_correct";

export interface HistoryRow {
  position: number;
  item_id: string;
  section: string | null;
  category: string | null;
  difficulty: string | null;
  prompt: string | null;
  history: HistoryName;
  marks: string; // a 1 or 0 a run
}

export interface HistoryPage {
  items: HistoryRow[];
  n: number;
  next_cursor: string | null;
}

export interface HistorySummary {
  by: string;
  runs: string[];
  counts: Record<HistoryName, number>;
  n_right: number[];
  n_left_out: number;
}

/** A training metric of a run by step. A null value was logged as NaN or an infinity. */
export interface Metric {
  name: string;
  source: string; // the log that it was read from
  steps: number[];
  values: (number | null)[];
  tokens: (number | null)[];
  times: (number | null)[]; // seconds
  n_points: number; // before any was left out
  n_replaced: number; // points that were trained again later; they are not among these
}

export interface TrainingMetrics {
  run_id: string;
  names: string[];
  curves: Metric[];
}

// ── one run ──────────────────────────────────────────────────────────────────────────────────────────────────

export interface Interval {
  low: number | null;
  high: number | null;
  confidence: number;
  method: string;
  n: number;
  reason: string | null;
}

export interface Gate {
  aggregate: string;
  direction: "at_least" | "at_most";
  limit: number;
  value: number | null;
  worst: number | null;
  best: number | null;
  holds: boolean;
  holds_in_worst_case: boolean;
  holds_in_best_case: boolean;
  unmeasured: boolean;
  interval: Interval | null;
}

/** decision.json of `rubric@v1`; of `answer_correctness@v1` it has a verdict alone. */
export interface Decision {
  decision?: string;
  release_ready?: boolean;
  reasons?: string[];
  said?: string[]; // the reasons, as reports word them
  gates?: Gate[];
  verdict?: string;
  reason?: string | null;
}

/** aggregates.json of either spec, as far as the page reads it. */
export interface Aggregates {
  aggregates?: Record<string, number | null>;
  intervals?: Record<string, Interval>;
  accuracy_counts?: Record<string, number>;
  faithfulness_counts?: Record<string, number>;
  fail_reasons?: Record<string, number>;
  warnings?: string[];
  slices?: { field: string; value: string; n_samples: number; n_scored: number; pass_rate: number | null; aggregate_score: number | null }[];
  primary_score?: number | null;
  interval?: Interval | null;
  misses?: Record<string, number>;
  floor_warning?: string | null;
  n_evaluations?: number; // of judge_protocol@v1, as the two below
  n_valid?: number;
  n_invalid?: number;
  n_items?: number;
  n_scored?: number;
  n_unanswered?: number; // of answer_correctness@v1, from derivation 3 on
  section?: CorrectnessSlice[];
  category?: CorrectnessSlice[];
  difficulty?: CorrectnessSlice[];
}

export interface CorrectnessSlice {
  value: string;
  mean: number | null;
  n_items: number;
  n_scored: number;
}

/** A sample in the list: the columns that both specs have, and what they call their own. Texts are cut. */
export interface SampleRow {
  sample: number;
  repeat: number;
  item_id: string;
  section: string | null;
  category: string | null;
  difficulty: string | null;
  score: number | null;
  passed: boolean | null;
  reasons: string[]; // why it missed or failed, or could not be scored
  text: string | null;
}

export interface SamplesPage {
  samples: SampleRow[];
  n: number;
  next_cursor: string | null;
}

export interface JudgeReply {
  judge: string | null; // whose it is, of a panel
  attempt: number;
  text: string | null;
  parse_error_reason: string | null;
  detail: string | null;
}

export interface SampleDetail extends SampleRow {
  prompt: string | null;
  context: string | null;
  expected: string | null;
  judge_replies: JudgeReply[];
  row: Record<string, unknown>; // the whole row of samples.parquet
}

export interface PanelSplit {
  sample: number;
  item_id: string;
  repeat: number;
  verdicts_differ: boolean;
  accuracy_scores: (number | null)[];
  faithfulness_scores: (number | null)[];
}

export interface PanelOfRun {
  lines: string[];
  notices: string[];
  judges_table: ReportTable;
  agreement_table: ReportTable;
  n_splits: number; // of which the panel's are the first
  panel: { judges: { name: string }[]; splits: PanelSplit[] };
}

export interface Verification {
  run_id: string;
  holds: boolean;
  state: string;
  n_facts: number;
  journal_sha256: string;
  findings: { file: string; line: number | null; message: string }[];
}

// ── judges ───────────────────────────────────────────────────────────────────────────────────────────────────

export interface Measured {
  value: number | null;
  low: number | null;
  high: number | null;
  n: number;
  n_units: number;
  at_least: number;
  method: string;
  reason: string | null;
  warnings: string[];
}

export interface TargetVariant {
  target_model: string;
  prompt_variant: string;
  n: number;
  n_valid: number;
  n_outputs: number;
  dimensions: Record<string, Measured>;
  overall: Measured;
  verdicts: Record<string, number>;
}

export interface Validity {
  n: number;
  n_valid: number;
  valid_share: Measured;
  flags: Record<string, number>;
  evidence: Record<string, number>;
  found_share: Measured;
}

export interface JudgeCard {
  judge_model: string;
  cross_judge: Validity;
  self_judge: Validity;
  severity: Measured;
  agreement: number | null;
  n_agreement_judges: number;
  n_probes_passed: number;
  n_probes_failed: number;
  n_probes_open: number;
}

export interface LeagueEntry {
  judge_model: string;
  standing: "usable" | "not_usable" | "too_few";
  n: number;
  outcomes: { rule: string; holds: boolean | null; found: number | null; limit: number }[];
}

export interface Analysis {
  confidence: number;
  methods: { method: string; n: number; n_valid: number; flags: Record<string, number> }[];
  n_gaps: number;
  targets: TargetVariant[];
  judges: JudgeCard[];
  self_minus_cross: { model: string; n_outputs: number; overall: Measured }[];
  league: LeagueEntry[];
}

export interface Evidence {
  dimension: string | null;
  quote: string | null;
  reason: string | null;
  located: string | null; // exact, normalised, fragments, not_found, empty
  spans: { start: number; end: number }[]; // in UTF-16 code units of the judged text
}

export interface EvaluationSummary {
  sample: number; // its number in the run
  question_id: string;
  prompt_variant: string;
  target_model: string;
  output_id: string;
  judge_model: string;
  method: string;
  repeat: number;
  valid: boolean;
  flags: string[];
  verdict: string | null;
  overall_score: number | null;
}

export interface Evaluation extends EvaluationSummary {
  scores: Record<string, number | null>;
  details: { flag: string; code: string; field: string; message: string }[];
  evidence: Evidence[];
  text: string; // the judged text
  task: string; // what its author was asked
  raw_reply: string;
}

/** An experiment in short; the whole of it is in the run's aggregates. */
export interface Experiment {
  run_id: string;
  state: string;
  started_utc: string | null;
  dataset_id: string | null;
  judges: string[];
  targets: string[];
  n_outputs: number;
  n_evaluations: number;
  n_valid: number;
  n_invalid: number;
}

export interface EvaluationsPage {
  evaluations: EvaluationSummary[];
  n: number;
  next_cursor: string | null;
}

// ── labels ───────────────────────────────────────────────────────────────────────────────────────────────────

export type LabelField = "accuracy_score" | "faithfulness_score";

/** A record of people's labels, and how far they are. */
export interface Book {
  book: string;
  run_id: string;
  sha256: string;
  n_samples: number;
  n_labels_a_person: number;
  by_labeller: Record<string, number>;
  by_field: Record<string, Record<string, number>>;
}

export interface Question {
  sample: number;
  item_id: string;
  field: LabelField;
  meaning: string; // the words that the judge was given
  place: number; // of the sample in the sheet, from 1
  prompt: string;
  context: string | null;
  expected: string | null;
  answer: string;
  opinions: { score: number; note: string }[]; // of others, in adjudication alone
}

/** What two people scored differently and nobody has settled; who said what is not told. */
export interface Dispute {
  sample: number;
  item_id: string;
  field: LabelField;
  place: number;
  opinions: { score: number; note: string }[];
}

export interface DisputesPage {
  disputes: Dispute[];
  n: number;
  n_settled: number;
}

/** A table of a report: plain text, with n and interval beside each number. */
export interface ReportTable {
  caption: string;
  columns: { name: string; number: boolean }[];
  rows: string[][];
}

export interface CardDecision {
  headline: string;
  tone: "good" | "bad" | "doubt" | "none";
  reasons: string[];
}

/** People's labels held against their run, as far as the page reads it: in the words of `benchbook calibrate`. */
export interface Calibration {
  book: string;
  run_id: string;
  between_people_table: ReportTable;
  words: {
    says: string;
    as_judged: CardDecision;
    as_people_judge: CardDecision;
    notices: string[];
    sections: { title: string; tables: ReportTable[] }[];
  } | null;
  reason: string | null; // why there are no words
}

/** What is to be labelled next; null where nothing is left for this person. In adjudication, what is in dispute. */
export interface LabelStep {
  book: string;
  labeller: string;
  question: Question | null;
  n_given: number;
  n_labels: number;
}

// ── leaderboard ──────────────────────────────────────────────────────────────────────────────────────────────

export interface EvalSetRow {
  dataset_sha256: string;
  dataset_id: string | null;
  spec: string;
  n_runs: number;
  best: number | null;
}

export interface Place {
  run: string;
  model: string | null;
  score: number | null;
  rank: number;
  rank_low: number | null;
  rank_high: number | null;
  p_against_best: number | null;
  among_best: boolean;
}

export interface Leaderboard {
  spec: string;
  evalset: string | null;
  n_items: number;
  n_left_out: number;
  confidence: number;
  method: string;
  reason: string | null;
  warnings: string[];
  places: Place[];
}
