# A server that is not the same at each launch, which it counts: unsteady.sh BOURDON two-faced|creeping
echo >> "$2.launches"
launch=$(wc -l < "$2.launches")
case $2:$launch in
    creeping:*) delay=$((10 + 2 * launch))ms ;;
    # The twin's, in the order that the seed draws.
    two-faced:2 | two-faced:3 | two-faced:6 | two-faced:7 | two-faced:10 | two-faced:11) delay=18ms ;;
    two-faced:*) delay=10ms ;;
esac
HANDLER_DELAY=$delay exec "$1" specimen clean
