/** A run whose samples are evaluations by judges; they have a page of their own. */
export const isExperiment = (run: { spec: string | null }): boolean => run.spec?.startsWith("judge_protocol@") ?? false;
