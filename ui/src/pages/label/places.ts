import type { Book } from "../../api/types";
import { changedQuery } from "../../router";

export const labelAddress = "/label";
export const drawAddress = (run: string): string => `/label${changedQuery("", { draw: run })}`;
export const queueAddress = (labels: string, labeller: string): string => `/label${changedQuery("", { labels, labeller })}`;
export const settleAddress = (labels: string, labeller: string): string => `/label${changedQuery("", { labels, labeller, view: "settle" })}`;
export const resultsAddress = (labels: string): string => `/label${changedQuery("", { labels, view: "results" })}`;

/** How many scores two people gave differently, and nobody has settled. */
export const disputedIn = (book: Book): number => Object.values(book.by_field).reduce((n, counts) => n + (counts["disputed"] ?? 0), 0);

const MOST = 100; // characters of a set's name

/** A name for a set of labels of a run: as much of the run's as a name may have. */
export const drawnName = (run: string): string => `${run.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "").slice(0, MOST - "-labels".length)}-labels`.replace(/^-/, "");
