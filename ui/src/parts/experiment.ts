import type { RunRow } from "../api/types";

/** A run whose samples are evaluations by judges; they have a page of their own. */
export const isExperiment = (run: Pick<RunRow, "samples_are">): boolean => run.samples_are === "evaluations";
