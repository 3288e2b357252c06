const messages: Readonly<Record<string, string>> = {
  "1": "Order with this number is already processed",
  "2": "Payment is declined",
  "3": "Unknown currency",
  "4": "Required parameter is missing",
  "5": "Value of a parameter is not valid",
  "6": "Order not found",
  "7": "System error",
  "14": "Payment way is invalid",
};

const messageOf = (code: string) => messages[code] ?? `Error ${code}`;

export const refusal = (code: string, message = messageOf(code)) => ({ errorCode: Number(code), errorMessage: message });

/**
 * Returns an error in the format of a confirm and of the older status call. In this format, the
 * error code is always a string.
 */
export const capitalisedRefusal = (code: string, message = messageOf(code)) => ({ ErrorCode: code, ErrorMessage: message });
