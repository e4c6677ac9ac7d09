/** What the comparison asks the server. */

import { address, get, type Address } from "../../api/client";
import type { Page } from "../../api/use-pages";
import type { HistoryPage, HistoryRow, ItemRow, ItemsPage } from "../../api/types";

export const ITEMS_PAGE = 100;

/** A question for items of two runs: filters, the number that they go by, and the order. */
export type ItemsQuestion = Readonly<Record<string, string>>;

export const itemsUrl = (a: string, b: string, question: ItemsQuestion, offset: number, limit: number): Address<ItemsPage> =>
  address("/comparisons/items", { run: [a, b], ...question, offset, limit });

export async function itemsPage(a: string, b: string, question: ItemsQuestion, page: number, signal: AbortSignal): Promise<Page<ItemRow>> {
  const { items, n } = await get(itemsUrl(a, b, question, page * ITEMS_PAGE, ITEMS_PAGE), signal);
  return { rows: items, n };
}

export const historyUrl = (runs: readonly string[], params: Record<string, string>, offset: number, limit: number): Address<HistoryPage> =>
  address("/comparisons/history", { run: runs, ...params, offset, limit });

export async function historyPage(runs: readonly string[], params: Record<string, string>, page: number, signal: AbortSignal): Promise<Page<HistoryRow>> {
  const { items, n } = await get(historyUrl(runs, params, page * ITEMS_PAGE, ITEMS_PAGE), signal);
  return { rows: items, n };
}
