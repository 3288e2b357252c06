#!/bin/sh
# Certificates for calls between services: deploy/make-certificates.sh <folder> [days]
# Each service gets <folder>/<service>/{cert,key,ca}.pem, good as client and as server under the service's name, and under
# $ALSO_NAMED where that is set. Run it again to renew them: running services take up new files within seconds. The CA is
# made once, in <folder>/ca; its key belongs off-line. The images run as user 1000, who must be able to read a service's
# folder. A deployment with an issuer of its own (cert-manager, Vault, step-ca) needs none of this, only a CA that signs for
# this deployment's services and nobody else.
set -eu
folder=${1:?"where to? deploy/make-certificates.sh <folder> [days]"}
days=${2:-90}
umask 077
mkdir -p "$folder/ca"
ca="$folder/ca"

if [ ! -f "$ca/key.pem" ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 3650 -subj "/CN=Amana services" \
    -addext basicConstraints=critical,CA:TRUE,pathlen:0 -addext keyUsage=critical,keyCertSign,cRLSign \
    -keyout "$ca/key.pem" -out "$ca/cert.pem" 2>/dev/null
fi

for service in gateway identity kyc clients payments webhooks; do
  mkdir -p "$folder/$service"
  fresh="$folder/$service/.new"
  printf '%s\n' "subjectAltName=DNS:$service${ALSO_NAMED:+,DNS:$ALSO_NAMED}" "extendedKeyUsage=serverAuth,clientAuth" \
    "keyUsage=critical,digitalSignature" "basicConstraints=critical,CA:FALSE" >"$fresh.ext"
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj "/CN=$service" \
    -keyout "$fresh.key" -out "$fresh.csr" 2>/dev/null
  openssl x509 -req -in "$fresh.csr" -CA "$ca/cert.pem" -CAkey "$ca/key.pem" -days "$days" -extfile "$fresh.ext" \
    -out "$fresh.cert" 2>/dev/null
  cp "$ca/cert.pem" "$folder/$service/ca.pem"
  mv "$fresh.key" "$folder/$service/key.pem"
  mv "$fresh.cert" "$folder/$service/cert.pem"
  rm "$fresh.csr" "$fresh.ext"
done
