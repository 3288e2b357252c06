import type { FastifyInstance, FastifyReply } from "fastify";
import type { Body } from "../checks.ts";
import { type RegisterControl, registerControls } from "../controls.ts";
import { refuse } from "../edge.ts";
import {
  type Application,
  attemptsLeft,
  awaitsReview,
  deleteAtVendor,
  expire,
  isBeingChecked,
  isLinkUsable,
  open,
  recordVendorReview,
  resubmit,
  reverse,
  review,
  submit,
  toApiObject,
} from "./application.ts";
import { dialectOf, type VendorReview } from "./dialect.ts";
import { changeSetup } from "./kyc-setup.ts";
import { objectWithLink, type Provider } from "./provider.ts";
import { readSubmission } from "./read-submission.ts";

/**
 * Registers control calls that read applications, and that act as the applicant, the reviewer or
 * the vendor.
 */
export function kycControl(app: FastifyInstance, provider: Provider): void {
  const { applications, callbacks, calls, clock } = provider;
  const control = registerControls<Application>(app, {
    path: "/sandbox/kyc",
    find: applications.byLinkToken,
    reference: { name: "reference", missing: "missing_reference" },
    findByReference: applications.byReference,
    unknown: {
      error: "unknown_link",
      message: "The sandbox does not have this verification. Create one with POST /v1/applications.",
    },
    calls,
    view: (application) => ({
      ...objectWithLink(provider, application),
      dialect: dialectOf(application.providerId),
      attempts_left: attemptsLeft(application),
      calls: calls.of({ id: application.providerId, reference: application.reference }),
      callbacks: callbacks.of(application.providerId),
    }),
  });

  control("/open", (application, _body, reply) => {
    if (isBeingChecked(application)) return toApiObject(application);
    if (!isLinkUsable(application)) return refuseDeadLink(reply, application);
    open(application, clock.nowMs());
    return save(provider, application);
  });

  control("/submit", (application, body, reply) => {
    const input = readSubmission(body, application);
    if ("problems" in input) return refuseBody(reply, input.problems);
    if (!isLinkUsable(application)) return refuseDeadLink(reply, application);
    submit(application, input.submission, input.holdMs, clock.nowMs());
    return save(provider, application);
  });

  control("/review", (application, body, reply) => {
    const outcome = String(body["outcome"]).toUpperCase();
    if (outcome !== "APPROVED" && outcome !== "REJECTED") return refuseBody(reply, ["outcome must be approved or rejected"]);
    if (!awaitsReview(application)) {
      const message = "Only an application with the verdict NEEDS_REVIEW can be reviewed.";
      return refuse(reply, 409, "no_review_awaited", message, { application: toApiObject(application) });
    }
    const actor = reviewActors[String(body["by"] ?? "console")];
    if (!actor) return refuseBody(reply, ['"by" must be console, api, system or note']);
    const to = outcome === "APPROVED" ? "Approved" : "Declined";
    recordVendorReview(application, { ...actor, from: "In Review", to, atMs: clock.nowMs() });
    review(application, outcome, clock.nowMs());
    return save(provider, application);
  });

  control("/expire", (application, _body, reply) => {
    if (!isLinkUsable(application)) return refuseDeadLink(reply, application);
    expire(application, clock.nowMs());
    return save(provider, application);
  });

  vendorControl(app, control, provider);
}

/** Registers control calls that act as the vendor or change the vendor's configuration. */
function vendorControl(app: FastifyInstance, control: RegisterControl<Application>, provider: Provider): void {
  const { clock, setup } = provider;
  control("/resubmit", (application, _body, reply) => {
    if (application.dialect !== "didit") return refuseInput(reply, "Only sessions of Didit can be resubmitted.");
    const problem = problemUnlessDecided(application);
    if (problem) return refuseState(reply, application, problem);
    resubmit(application, clock.nowMs());
    return save(provider, application);
  });

  control("/reverse", (application, body, reply) => {
    const outcome = String(body["outcome"]).toUpperCase();
    if (outcome !== "APPROVED" && outcome !== "REJECTED") return refuseInput(reply, "outcome must be approved or rejected.");
    const problem = problemUnlessDecided(application);
    if (problem) return refuseState(reply, application, problem);
    if (application.verdict === outcome) return refuseState(reply, application, `The verdict is already ${outcome}.`);
    reverse(application, outcome, clock.nowMs());
    return save(provider, application);
  });

  control("/delete", (application, _body, reply) => {
    if (!application.vendor)
      return refuseInput(
        reply,
        "Amana's own protocol cannot delete applications. Create the application through a vendor's API.",
      );
    if (application.vendor.isDeleted) return refuseState(reply, application, "The application is already deleted.");
    deleteAtVendor(application, clock.nowMs());
    return save(provider, application);
  });

  app.put<{ Body: Body | null }>("/sandbox/kyc-setup", ({ body }, reply) => {
    const problem = changeSetup(setup, body ?? {});
    return problem ? refuse(reply, 422, "invalid_setup", problem) : { ...setup };
  });
}

function save({ applications }: Provider, application: Application): object {
  applications.save(application);
  return toApiObject(application);
}

/** Actor and kind of a change at the vendor, for each value of `by`. */
const reviewActors: Readonly<Record<string, Pick<VendorReview, "actor" | "kind">>> = {
  console: { actor: "CONSOLE_USER", kind: "STATUS_UPDATED" },
  api: { actor: "API_KEY", kind: "STATUS_UPDATED" },
  system: { actor: "SYSTEM", kind: "STATUS_UPDATED" },
  note: { actor: "CONSOLE_USER", kind: "NOTE_ADDED" },
};

const refuseBody = (reply: FastifyReply, problems: readonly string[]) =>
  refuse(reply, 422, "invalid_request", `${problems.join("; ")}.`, { problems });

function refuseDeadLink(reply: FastifyReply, application: Application): object {
  const { status, attemptsMax } = application;
  const details = { application: toApiObject(application) };
  if (isBeingChecked(application)) {
    return refuse(reply, 409, "in_progress", "A submission is being checked. Wait for its outcome.", details);
  }
  const reason = status === "FAILED" ? `its ${attemptsMax} attempts are used up` : `it is ${status}`;
  const message = `This link can no longer be used: ${reason}. Create a new application.`;
  return refuse(reply, 409, "dead_link", message, details);
}

function problemUnlessDecided({ status, vendor }: Application): string | undefined {
  if (vendor?.isDeleted || vendor?.isDeactivated) return "The application is deleted or deactivated at the vendor.";
  return status === "COMPLETED" ? undefined : "The application has no verdict. Use the control call submit first.";
}

const refuseInput = (reply: FastifyReply, message: string) => refuse(reply, 422, "invalid_request", message);

const refuseState = (reply: FastifyReply, application: Application, message: string) =>
  refuse(reply, 409, "wrong_state", message, { application: toApiObject(application) });
