import type { Book } from "../../api/types";
import { changedQuery } from "../../router";

export const queueAddress = (labels: string, labeller: string): string => `/label${changedQuery("", { labels, labeller })}`;
export const settleAddress = (labels: string, labeller: string): string => `/label${changedQuery("", { labels, labeller, view: "settle" })}`;
export const resultsAddress = (labels: string): string => `/label${changedQuery("", { labels, view: "results" })}`;

/** How many scores two people gave differently, and nobody has settled. */
export const disputedIn = (book: Book): number => Object.values(book.by_field).reduce((n, counts) => n + (counts["disputed"] ?? 0), 0);
