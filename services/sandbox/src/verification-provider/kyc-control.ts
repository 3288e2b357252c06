import type { FastifyInstance, FastifyReply } from "fastify";
import {
  type Application,
  attemptsLeft,
  awaitsReview,
  expire,
  isBeingChecked,
  isUsable,
  objectOf,
  open,
  review,
  submit,
} from "./application.ts";
import type { Provider } from "./provider.ts";
import { readSubmission } from "./read-submission.ts";

type Body = Readonly<Record<string, unknown>>;
type Handle = (application: Application, reply: FastifyReply, body: Body) => object;

/** The calls by which tests and demonstrations play the applicant and the reviewer, and look into the books. */
export function kycControl(app: FastifyInstance, provider: Provider): void {
  const { applications, callbacks, clock, linkUrl } = provider;
  const changed = (application: Application) => {
    applications.save(application);
    return objectOf(application);
  };

  const onLink = (method: "GET" | "POST", action: string, handle: Handle) =>
    app.route<{ Params: { linkToken: string }; Body: Body | null }>({
      method,
      url: `/sandbox/kyc/:linkToken${action}`,
      handler({ params, body }, reply) {
        const application = applications.byLinkToken(params.linkToken);
        return application ? handle(application, reply, body ?? {}) : reply.code(404).send(unknown);
      },
    });

  onLink("POST", "/open", (application, reply) => {
    if (isBeingChecked(application)) return objectOf(application);
    if (!isUsable(application)) return deadLink(reply, application);
    open(application, clock.nowMs());
    return changed(application);
  });

  onLink("POST", "/submit", (application, reply, body) => {
    const wish = readSubmission(body, application.profile);
    if ("problems" in wish) return notUsable(reply, wish.problems);
    if (!isUsable(application)) return deadLink(reply, application);
    submit(application, wish.submission, wish.holdMs, clock.nowMs());
    return changed(application);
  });

  onLink("POST", "/review", (application, reply, body) => {
    const outcome = String(body["outcome"]).toUpperCase();
    if (outcome !== "APPROVED" && outcome !== "REJECTED") return notUsable(reply, ["outcome must be approved or rejected"]);
    if (!awaitsReview(application)) {
      return refused(
        reply,
        application,
        "no_review_awaited",
        "Only an application with the verdict NEEDS_REVIEW can be reviewed.",
      );
    }
    review(application, outcome, clock.nowMs());
    return changed(application);
  });

  onLink("POST", "/expire", (application, reply) => {
    if (!isUsable(application)) return deadLink(reply, application);
    expire(application, clock.nowMs());
    return changed(application);
  });

  onLink("GET", "", (application) => view(application));

  app.get<{ Querystring: { reference?: string } }>("/sandbox/kyc", (request, reply) => {
    const { reference } = request.query;
    if (!reference) return reply.code(422).send({ error: "missing_reference", message: "Add ?reference= to the path." });
    const application = applications.byReference(reference);
    if (application) return view(application);
    // Calls that never became an application are still worth counting.
    return reply.code(404).send({ ...unknown, calls: applications.callsOf({ reference }) });
  });

  const view = (application: Application) => ({
    link_url: linkUrl(application),
    ...objectOf(application),
    attempts_left: attemptsLeft(application),
    calls: applications.callsOf(application),
    callbacks: callbacks.of(application.providerId),
  });
}

const unknown = {
  error: "unknown_link",
  message: "The sandbox knows no such verification. Create one first with POST /v1/applications.",
};

const notUsable = (reply: FastifyReply, problems: readonly string[]) =>
  reply.code(422).send({ error: "invalid_request", message: `${problems.join("; ")}.`, problems });

const refused = (reply: FastifyReply, application: Application, error: string, message: string) =>
  reply.code(409).send({ error, message, application: objectOf(application) });

function deadLink(reply: FastifyReply, application: Application): FastifyReply {
  const { status, attemptsMax } = application;
  if (isBeingChecked(application)) {
    return refused(reply, application, "in_progress", "A submission is being checked. Wait for its outcome.");
  }
  const why = status === "FAILED" ? `its ${attemptsMax} attempts are used up` : `it is ${status}`;
  return refused(reply, application, "dead_link", `This link can no longer be used: ${why}. Create a new application.`);
}
