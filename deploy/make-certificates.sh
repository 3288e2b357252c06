#!/bin/sh
# Creates certificates for calls between services: deploy/make-certificates.sh <folder> [days] (default: 90 days)
# The script writes <folder>/<service>/{cert,key,ca}.pem for each service. A service uses its certificate as a client and as a
# server. The certificate is valid for the name of the service, and for $ALSO_NAMED if this variable is set. To renew the
# certificates, run the script again; running services load the new files within seconds. The first run creates the CA in
# <folder>/ca. Store the CA's key offline. The images run as user 1000, which must be able to read the folder of its service.
# A deployment with its own issuer (cert-manager, Vault, step-ca) does not need this script. The CA of such an issuer must sign
# only certificates of this deployment's services.
set -eu
folder=${1:?"The folder is missing. Usage: deploy/make-certificates.sh <folder> [days]"}
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
  new="$folder/$service/.new"
  printf '%s\n' "subjectAltName=DNS:$service${ALSO_NAMED:+,DNS:$ALSO_NAMED}" "extendedKeyUsage=serverAuth,clientAuth" \
    "keyUsage=critical,digitalSignature" "basicConstraints=critical,CA:FALSE" >"$new.ext"
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj "/CN=$service" \
    -keyout "$new.key" -out "$new.csr" 2>/dev/null
  openssl x509 -req -in "$new.csr" -CA "$ca/cert.pem" -CAkey "$ca/key.pem" -days "$days" -extfile "$new.ext" \
    -out "$new.cert" 2>/dev/null
  cp "$ca/cert.pem" "$folder/$service/ca.pem"
  mv "$new.key" "$folder/$service/key.pem"
  mv "$new.cert" "$folder/$service/cert.pem"
  rm "$new.csr" "$new.ext"
done
