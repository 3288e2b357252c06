import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Body, isText, isWhole } from "../checks.ts";
import { refuse } from "../edge.ts";
import { answerWithFault } from "../faulty-answer.ts";
import { type Application, awaitsReview, cancel, isCancelable, review } from "./application.ts";
import { createApplication, readWish } from "./create-application.ts";
import { applicantWith } from "./leak.ts";
import { objectWithLink, type Provider } from "./provider.ts";

interface PortRoute {
  Params: { providerId?: string };
  Querystring: { after?: string; limit?: string };
  Body: Body | null;
}

type PortRequest = FastifyRequest<PortRoute>;

/** What a client sent that belongs to the applicant is named in the books, never kept. */
const applicantFields = ["applicant_email", "applicant_phone"];

const eventsMax = 500;

/** The port that our own service calls. Every answer is the whole object. */
export function port(app: FastifyInstance, provider: Provider): void {
  const { clock, applications } = provider;
  const serve = answerTo(app, provider);
  type AnswerOnOne = (application: Application, reply: FastifyReply, body: Body) => object;
  const serveOne = (method: "GET" | "POST", action: string, operation: string, answer: AnswerOnOne) =>
    serve(method, `/:providerId${action}`, operation, ({ params, body }, reply) => {
      const application = applications.byProviderId(params.providerId ?? "");
      return application
        ? answer(application, reply, body ?? {})
        : refuse(reply, 404, "unknown_application", "There is no application with this provider_id.");
    });

  serve("POST", "", "kyc_create", ({ body }, reply) => {
    const wish = readWish(body ?? {});
    if ("problems" in wish) return refuse(reply, 422, "invalid_request", "Some fields are not usable.", wish);
    const known = applications.byReference(wish.reference);
    if (known) return objectWithLink(provider, known);
    const created = createApplication(wish, clock.nowMs());
    applications.save(created);
    reply.code(201);
    return objectWithLink(provider, created);
  });

  serveOne("GET", "", "kyc_get", (application) => objectWithLink(provider, application));

  serveOne("POST", "/cancel", "kyc_cancel", (application, reply) => {
    if (isCancelable(application)) {
      cancel(application, clock.nowMs());
      applications.save(application);
    } else reply.code(409);
    return objectWithLink(provider, application);
  });

  serveOne("POST", "/review", "kyc_review", (application, reply, { outcome, reviewer, note }) => {
    if (outcome !== "APPROVED" && outcome !== "REJECTED") {
      return refuse(reply, 422, "invalid_request", "outcome must be APPROVED or REJECTED.");
    }
    if (!isText(reviewer) || !isText(note)) {
      return refuse(reply, 422, "invalid_request", "reviewer and note must be texts.");
    }
    if (awaitsReview(application)) {
      review(application, outcome, clock.nowMs());
      applications.save(application);
    } else reply.code(409);
    return objectWithLink(provider, application);
  });

  app.get<PortRoute>(
    "/v1/events",
    (request, reply) => refuseStranger(provider, request, reply) ?? events(provider, request, reply),
  );
}

/** What happened, oldest first, from a cursor on. */
function events({ callbacks }: Provider, { query }: PortRequest, reply: FastifyReply): object {
  const { after = "0", limit = "100" } = query;
  if (!/^\d{1,15}$/.test(after) || !/^\d{1,3}$/.test(limit) || !isWhole(Number(limit), 1, eventsMax)) {
    const message = `after must be a cursor from an earlier answer, limit a whole number from 1 to ${eventsMax}.`;
    return refuse(reply, 422, "invalid_request", message);
  }
  const found = callbacks.eventsAfter(Number(after), Number(limit));
  return {
    events: found.map(({ id, body }) => ({ cursor: String(id), ...JSON.parse(body) })),
    // The cursor for the next call, the same as before when nothing happened since.
    cursor: String(found.at(-1)?.id ?? after),
  };
}

/** Adds a call: it is written down, and answered to who shows the token, or as a fault says. */
function answerTo(app: FastifyInstance, provider: Provider) {
  const { faults, calls } = provider;
  type Answer = (request: PortRequest, reply: FastifyReply) => object;
  return (method: "GET" | "POST", path: string, operation: string, answer: Answer) =>
    app.route<PortRoute>({
      method,
      url: `/v1/applications${path}`,
      handler(request, reply) {
        const { providerId: id } = request.params;
        const { profile: _profile, ...parameters }: Record<string, unknown> = request.body ?? {};
        for (const name of applicantFields) if (name in parameters) parameters[name] = "received, not kept";
        const { reference } = parameters;
        calls.record(operation, parameters, { id, ...(isText(reference) && { reference }) });

        const effect = () => refuseStranger(provider, request, reply) ?? answer(request, reply);
        const mode = faults.strike(operation);
        const refusePlanted = (status: number, message: string, more?: object) =>
          refuse(reply, status, "planted_fault", message, more);
        if (mode.name === "leak") return { ...effect(), ...applicantWith(mode.value) };
        if (mode.name === "leak_error") {
          const message = `${mode.value} is not usable.`;
          return refusePlanted(422, message, { problems: [message], ...applicantWith(mode.value) });
        }
        const planted = "A tester asked for this refusal with PUT /sandbox/faults.";
        return answerWithFault(reply, mode, { effect, refusal: (status) => refusePlanted(Number(status), planted) });
      },
    });
}

/** The refusal for whoever does not show the token. */
function refuseStranger({ config }: Provider, { headers }: PortRequest, reply: FastifyReply): object | undefined {
  if (headers.authorization === `Bearer ${config.kycProviderToken}`) return undefined;
  return refuse(reply, 401, "unauthorized", "The bearer token is not the one of KYC_PROVIDER_TOKEN.");
}
