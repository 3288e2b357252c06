import type { FastifyInstance, FastifyReply } from "fastify";
import type { Body } from "../checks.ts";
import type { RegisterControl } from "../controls.ts";
import { refuse } from "../edge.ts";
import { type Application, deleteAtVendor, resubmit, reverse, toApiObject } from "./application.ts";
import { changeSetup } from "./kyc-setup.ts";
import type { Provider } from "./provider.ts";

/** Registers control calls that act as the vendor. */
export function vendorControl(
  app: FastifyInstance,
  control: RegisterControl<Application>,
  { applications, clock, setup }: Provider,
): void {
  const save = (application: Application) => {
    applications.save(application);
    return toApiObject(application);
  };

  control("/resubmit", (application, _body, reply) => {
    if (application.dialect !== "didit") return refuseInput(reply, "Only sessions of Didit can be resubmitted.");
    const problem = problemUnlessDecided(application);
    if (problem) return refuseState(reply, application, problem);
    resubmit(application, clock.nowMs());
    return save(application);
  });

  control("/reverse", (application, body, reply) => {
    const outcome = String(body["outcome"]).toUpperCase();
    if (outcome !== "APPROVED" && outcome !== "REJECTED") return refuseInput(reply, "outcome must be approved or rejected.");
    const problem = problemUnlessDecided(application);
    if (problem) return refuseState(reply, application, problem);
    if (application.verdict === outcome) return refuseState(reply, application, `The verdict is already ${outcome}.`);
    reverse(application, outcome, clock.nowMs());
    return save(application);
  });

  control("/delete", (application, _body, reply) => {
    if (!application.vendor)
      return refuseInput(
        reply,
        "Amana's own protocol cannot delete applications. Create the application through a vendor's API.",
      );
    if (application.vendor?.isDeleted) return refuseState(reply, application, "The application is already deleted.");
    deleteAtVendor(application, clock.nowMs());
    return save(application);
  });

  app.put<{ Body: Body | null }>("/sandbox/kyc-setup", ({ body }, reply) => {
    const problem = changeSetup(setup, body ?? {});
    return problem ? refuse(reply, 422, "invalid_setup", problem) : { ...setup };
  });
}

function problemUnlessDecided({ status, vendor }: Application): string | undefined {
  if (vendor?.isDeleted || vendor?.isDeactivated) return "The application is deleted or deactivated at the vendor.";
  return status === "COMPLETED" ? undefined : "The application has no verdict. Use the control call submit first.";
}

const refuseInput = (reply: FastifyReply, message: string) => refuse(reply, 422, "invalid_request", message);

const refuseState = (reply: FastifyReply, application: Application, message: string) =>
  refuse(reply, 409, "wrong_state", message, { application: toApiObject(application) });
