// A certificate for localhost and 127.0.0.1, for tests only; valid for a hundred years. Made by `openssl req -x509`.

/** The certificate, its own authority. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUKYqeRm6q0FqpuGb1mfRddEmxCKYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEzMDIxMTgxOFoYDzIxMjYxMTA2
MjExODE4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASMNQjZSUh8tK21s7E0KN46d89b7NPsynmfiSD6i29/a15wevVYIkO6
1IaZpMhSjhsFNdeMPKaGpvEQMukCnJPno28wbTAdBgNVHQ4EFgQU0+aD+BjQTABP
TvqphURhX2SiITswHwYDVR0jBBgwFoAU0+aD+BjQTABPTvqphURhX2SiITswDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhAMQEmNEWDMxGm7Fht/cVsbDmiw4itZ/eq6a916lIgesmAiAN
eeJ+aomO092QCAAd5L+9LptTpnxP7YwIVPj9EhsIFQ==
-----END CERTIFICATE-----
`;

/** Its key, which protects nothing. */
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqVsr0/cLBO+mt5q9
pv16DJ05JpUJ0+7ups7smEhVb3WhRANCAASMNQjZSUh8tK21s7E0KN46d89b7NPs
ynmfiSD6i29/a15wevVYIkO61IaZpMhSjhsFNdeMPKaGpvEQMukCnJPn
-----END PRIVATE KEY-----
`;
