import jsqr from "jsqr";
import { expect, test } from "vitest";
import { qrCodeSvg } from "./qr-code.ts";

/** Draws each module of the SVG as a square of 4 × 4 pixels. */
function draw(svg: string): { data: Uint8ClampedArray; size: number } {
  const scale = 4;
  const size = scale * Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1]);
  const data = new Uint8ClampedArray(4 * size * size).fill(255);
  for (const [, x, y] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let row = 0; row < scale; row++) {
      const start = 4 * ((scale * Number(y) + row) * size + scale * Number(x));
      for (let pixel = 0; pixel < scale; pixel++) data.set([0, 0, 0], start + 4 * pixel);
    }
  }
  return { data, size };
}

// Corrects the type of the CommonJS default export.
const decode = jsqr as unknown as typeof jsqr.default;

test.each([
  "https://pay.example/pay/k3v9Qk2mZxW1r0uYt5nB7A",
  "http://127.0.0.1:8080/pay/0123456789abcdefABCDEF",
  `https://pay.example/${"x".repeat(200)}`,
])("qrCodeSvg draws a code that a scanner reads as %s", (url) => {
  const { data, size } = draw(qrCodeSvg(url));
  expect(decode(data, size, size)?.data).toBe(url);
});
