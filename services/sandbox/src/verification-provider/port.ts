import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "../faults.ts";
import { answerWithFault } from "../faulty-answer.ts";
import { type Application, awaitsReview, cancel, isCancelable, objectOf, review } from "./application.ts";
import { createApplication, readWish } from "./create-application.ts";
import { applicantWith, leakedWord } from "./leak.ts";
import type { Provider } from "./provider.ts";

type Body = Readonly<Record<string, unknown>> | null;
interface ById {
  Params: { providerId: string };
  Body: Body;
}

/** What a client sent that belongs to the applicant is named in the books, never kept. */
const applicantFields = ["applicant_email", "applicant_phone"];

const eventsMax = 500;

/** The port that our own service calls: JSON, a bearer token, and the whole object in every answer. */
export function port(app: FastifyInstance, provider: Provider): void {
  const { config, clock, faults, applications, callbacks, linkUrl } = provider;
  const withLink = (application: Application) => ({ link_url: linkUrl(application), ...objectOf(application) });
  const asClient = clientWith(config.kycProviderToken);
  const onApplication = (request: FastifyRequest<ById>, reply: FastifyReply, answer: (application: Application) => object) =>
    asClient(request, reply, () => {
      const application = applications.byProviderId(request.params.providerId);
      return application
        ? answer(application)
        : refuse(reply, 404, "unknown_application", "There is no application with this provider_id.");
    });

  const answer = answerWith(faults);

  const record = (operation: string, { providerId, body }: { providerId?: string; body?: Body }) => {
    const reference = body?.["reference"];
    applications.recordCall({
      operation,
      at: new Date().toISOString(),
      parameters: withoutApplicant(body ?? {}),
      ...(providerId !== undefined && { providerId }),
      ...(typeof reference === "string" && { reference }),
    });
  };

  app.post<{ Body: Body }>("/v1/applications", (request, reply) => {
    record("kyc_create", { body: request.body });
    return answer(reply, "kyc_create", () =>
      asClient(request, reply, () => {
        const wish = readWish(request.body ?? {});
        if ("problems" in wish) {
          return refuse(reply, 422, "invalid_request", "Some fields are not usable.", { problems: wish.problems });
        }
        const known = applications.byReference(wish.reference);
        if (known) return withLink(known);
        const created = createApplication(wish, clock.nowMs());
        applications.save(created);
        reply.code(201);
        return withLink(created);
      }),
    );
  });

  app.get<ById>("/v1/applications/:providerId", (request, reply) => {
    record("kyc_get", request.params);
    return answer(reply, "kyc_get", () => onApplication(request, reply, withLink));
  });

  app.post<ById>("/v1/applications/:providerId/cancel", (request, reply) => {
    record("kyc_cancel", request.params);
    return answer(reply, "kyc_cancel", () =>
      onApplication(request, reply, (application) => {
        if (isCancelable(application)) {
          cancel(application, clock.nowMs());
          applications.save(application);
        } else reply.code(409);
        return withLink(application);
      }),
    );
  });

  app.post<ById>("/v1/applications/:providerId/review", (request, reply) => {
    const { params, body } = request;
    record("kyc_review", { ...params, body });
    const answered = onApplication(request, reply, (application) => {
      const { outcome, reviewer, note } = body ?? {};
      if (outcome !== "APPROVED" && outcome !== "REJECTED") {
        return refuse(reply, 422, "invalid_request", "outcome must be APPROVED or REJECTED.");
      }
      if (typeof reviewer !== "string" || typeof note !== "string") {
        return refuse(reply, 422, "invalid_request", "reviewer and note must be texts.");
      }
      if (awaitsReview(application)) {
        review(application, outcome, clock.nowMs());
        applications.save(application);
      } else reply.code(409);
      return withLink(application);
    });
    return reply.send(answered);
  });

  eventList(app, callbacks, asClient);
}

/** What happened, oldest first, from a cursor on. */
function eventList(app: FastifyInstance, callbacks: Provider["callbacks"], asClient: AsClient): void {
  app.get<{ Querystring: { after?: string; limit?: string } }>("/v1/events", (request, reply) => {
    const answered = asClient(request, reply, () => {
      const { after = "0", limit = "100" } = request.query;
      if (!/^\d{1,15}$/.test(after) || !/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > eventsMax) {
        const message = `after must be a cursor from an earlier answer, limit a whole number from 1 to ${eventsMax}.`;
        return refuse(reply, 422, "invalid_request", message);
      }
      const found = callbacks.eventsAfter(Number(after), Number(limit));
      return {
        events: found.map(({ id, body }) => ({ cursor: String(id), ...JSON.parse(body) })),
        // The cursor for the next call, the same as before when nothing happened since.
        cursor: String(found.at(-1)?.id ?? after),
      };
    });
    return reply.send(answered);
  });
}

const refuse = (reply: FastifyReply, status: number, error: string, message: string, more: object = {}) => {
  reply.code(status);
  return { error, message, ...more };
};

const planted = (reply: FastifyReply) => (status: string) =>
  refuse(reply, Number(status), "planted_fault", "A tester asked for this refusal with PUT /sandbox/faults.");

/** Answers an operation, unless a tester planted a fault there. */
const answerWith = (faults: Provider["faults"]) => (reply: FastifyReply, operation: Operation, effect: () => object) => {
  const mode = faults.strike(operation);
  const word = leakedWord(mode, "leak");
  if (word !== undefined) return reply.send({ ...effect(), ...applicantWith(word) });
  const echoed = leakedWord(mode, "leak_error");
  if (echoed !== undefined) {
    const message = `${echoed} is not usable.`;
    return reply.send(refuse(reply, 422, "planted_fault", message, { problems: [message], ...applicantWith(echoed) }));
  }
  return answerWithFault(reply, mode, { refusal: planted(reply), effect });
};

type AsClient = (request: FastifyRequest, reply: FastifyReply, answer: () => object) => object;

/** Answers whoever shows the token, and refuses everybody else. */
const clientWith =
  (token: string): AsClient =>
  ({ headers }, reply, answer) =>
    headers.authorization === `Bearer ${token}`
      ? answer()
      : refuse(reply, 401, "unauthorized", "The bearer token is not the one of KYC_PROVIDER_TOKEN.");

function withoutApplicant({ profile: _profile, ...parameters }: Readonly<Record<string, unknown>>): object {
  const kept = Object.entries(parameters).map(([name, value]) => [
    name,
    applicantFields.includes(name) ? "received, not kept" : value,
  ]);
  return Object.fromEntries(kept);
}
