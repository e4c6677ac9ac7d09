import { changedQuery } from "../../router";

/** The page of one audit. */
export function auditAddress(audit: string): string {
  return `/audits${changedQuery("", { audit })}`;
}
