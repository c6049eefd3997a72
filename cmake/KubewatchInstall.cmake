# cmake --install and the Debian package (cpack -G DEB): binary, man pages, completions, examples.
include(GNUInstallDirs)

install(TARGETS kubewatch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        FILES_MATCHING PATTERN "*.1")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man5
        FILES_MATCHING PATTERN "*.5")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man7
        FILES_MATCHING PATTERN "*.7")
install(FILES ${PROJECT_SOURCE_DIR}/completions/kubewatch.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kubewatch)
install(FILES ${PROJECT_SOURCE_DIR}/completions/_kubewatch
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${PROJECT_SOURCE_DIR}/completions/kubewatch.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples USE_SOURCE_PERMISSIONS)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/shell_lib.sh
        DESTINATION ${CMAKE_INSTALL_DATADIR}/kubewatch)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "kubewatch developers <kubewatch@kubewatch.dev>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "watch, cache and reconcile Kubernetes objects")
set(CPACK_PACKAGE_DESCRIPTION
    "Streams changes of Kubernetes objects, keeps compact caches, waits for conditions, applies
 manifests and runs controllers written as YAML rules and shell hooks; with an embedded API server.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "https://kubewatch.dev")
include(CPack)
