/** What the comparison asks the server. */

import { address, get, type Address } from "../../api/client";
import type { Page } from "../../api/use-pages";
import type { HistoryPage, HistoryRow, ItemRow, ItemsPage } from "../../api/types";
import type { Filters } from "./state";

export const ITEMS_PAGE = 100;

export const itemsUrl = (a: string, b: string, filters: Filters, sort: string, offset: number, limit: number): Address<ItemsPage> =>
  address("/comparisons/items", { run: [a, b], ...filters, sort, offset, limit });

export async function itemsPage(a: string, b: string, filters: Filters, sort: string, page: number, signal: AbortSignal): Promise<Page<ItemRow>> {
  const { items, n } = await get(itemsUrl(a, b, filters, sort, page * ITEMS_PAGE, ITEMS_PAGE), signal);
  return { rows: items, n };
}

export const historyUrl = (runs: readonly string[], params: Record<string, string>, offset: number, limit: number): Address<HistoryPage> =>
  address("/comparisons/history", { run: runs, ...params, offset, limit });

export async function historyPage(runs: readonly string[], params: Record<string, string>, page: number, signal: AbortSignal): Promise<Page<HistoryRow>> {
  const { items, n } = await get(historyUrl(runs, params, page * ITEMS_PAGE, ITEMS_PAGE), signal);
  return { rows: items, n };
}
