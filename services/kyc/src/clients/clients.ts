/** The clients service as this one sees it: whether a verification may be linked to a client. */
export interface Clients {
  /** "unknown" also for a client of another business. */
  standing(businessId: string, clientId: string): Promise<"unknown" | "blocked" | "good">;
}
