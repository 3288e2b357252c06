import { startSandboxProcess } from "@amana/testing";

export const credentials = { userName: "merchant", password: "s3cret-credential" };

export interface TestCard {
  readonly pan: string;
  readonly expiry: string;
  readonly cvv2: string;
}

export const validCard: TestCard = { pan: "6280581110007215", expiry: "01/2027", cvv2: "373" };

/** An order as the sandbox stores it. */
export interface SandboxOrder {
  readonly orderId: string;
  readonly orderNumber: string;
  readonly orderStatus: number;
  readonly depositedAmount: number;
  readonly refundedAmount: number;
  readonly confirmed: boolean;
  readonly formUrl: string;
  readonly calls: readonly { readonly operation: string; readonly parameters: Readonly<Record<string, string>> }[];
}

/** Starts a sandbox process that simulates the card processor and keeps its orders in memory. */
export async function startSandbox(numbersAsStrings: boolean) {
  const sandbox = await startSandboxProcess({
    SATIM_USERNAME: credentials.userName,
    SATIM_PASSWORD: credentials.password,
    NUMBERS_AS_STRINGS: String(numbersAsStrings),
  });
  const { control } = sandbox;

  return {
    ...sandbox,
    pay: (orderId: string | undefined, card: TestCard = validCard) =>
      control<{ redirect_url?: string }>("POST", `payments/${orderId}/pay`, { ...card, password: "123456" }),
    cancel: (orderId: string | undefined) => control("POST", `payments/${orderId}/cancel`),
    order: (orderId: string | undefined) => control<SandboxOrder>("GET", `payments/${orderId}`),
    byNumber: (orderNumber: string) => control<SandboxOrder>("GET", `payments?orderNumber=${orderNumber}`),
    /** Returns the number of orders on the first page, which may show only the newest orders. */
    async countOrders(): Promise<number> {
      const page = await (await fetch(sandbox.url)).text();
      return new Set(page.match(/\/payment\/pay\/[^?"]+/g)).size;
    },
    advance: (seconds: number) => control("POST", "clock", { advance_seconds: seconds }),
    /** Refunds an order in the processor's back office, without Amana. */
    refundExternally: (orderId: string | undefined, amount?: string) =>
      control("POST", `payments/${orderId}/refund`, amount === undefined ? {} : { amount }),
    reverse: (orderId: string | undefined) => control("POST", `payments/${orderId}/reverse`, {}),
  };
}
