/** What the real processor tells about the person who pays, and what its clients must not keep. */
export const cardholder = { name: "TITULAIRE DE TEST", ip: "192.0.2.44" } as const;
